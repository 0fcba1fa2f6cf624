//! Which vector instructions a run may use. Every level gives the same answer; tests hold them equal.

/// A level of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Simd {
    /// Portable code only.
    Scalar,
    /// AVX2 on x86-64.
    Avx2,
    /// AVX-512 F, BW, DQ and VL on x86-64.
    Avx512,
}

impl Simd {
    /// The best level this machine has.
    pub fn detect() -> Simd {
        #[cfg(target_arch = "x86_64")]
        {
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx512 {
                return Simd::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Simd::Avx2;
            }
        }
        Simd::Scalar
    }
}
