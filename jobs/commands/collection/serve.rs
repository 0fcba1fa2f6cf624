//! `alike serve`: a collection or an output of `dedup` over HTTP.

use std::process::ExitCode;

use alike::error::Result;

use crate::cli::collections::ServeArgs;

#[cfg(feature = "serve")]
pub(crate) fn run(args: &ServeArgs) -> Result<ExitCode> {
    serving::run(args)
}

#[cfg(not(feature = "serve"))]
pub(crate) fn run(_: &ServeArgs) -> Result<ExitCode> {
    let what = "this build serves nothing: build alike with --features full";
    Err(alike::error::Error::config(what))
}

#[cfg(feature = "serve")]
mod serving {
    use std::io::{self, Write};
    use std::process::ExitCode;
    use std::sync::Arc;
    use std::time::Duration;

    use alike::config::parse_size;
    use alike::error::{Error, Result};
    use alike::progress::Progress;
    use alike::read::FieldPath;
    use alike::serve::{AccessToken, HttpServer, ServeOptions, ServeWhat};

    use crate::cli::collections::ServeArgs;
    use crate::cluster::endpoint::listen_addresses;
    use crate::cluster::secret;
    use crate::environment::environment;
    use crate::session::collection::{open, reach};
    use crate::session::finished::{finished_run, served_inputs};
    use crate::session::options::Machine;
    use crate::terminal::interrupt::stop_in_order_on_interrupt;
    use crate::terminal::stderr::{tell, warn};

    pub(super) fn run(args: &ServeArgs) -> Result<ExitCode> {
        let options = options(args)?;
        let progress = Arc::new(Progress::default());
        stop_in_order_on_interrupt(Arc::clone(&progress))?;
        let what = what(args, &progress)?;
        let changes = options.token.is_some() && matches!(what, ServeWhat::Collection(_));
        let server = HttpServer::open(what, options, &progress)?;
        // The one line of standard output: a script that starts the server learns from it that it may ask, and where.
        let mut out = io::stdout().lock();
        // Nobody reading it is no failure.
        let _ = writeln!(out, "http://{}/", server.address()).and_then(|()| out.flush());
        drop(out);
        let what = match (changes, &args.verdicts) {
            (true, _) => "reads, and changes with the token",
            (false, Some(_)) => "reads, and takes verdicts",
            (false, None) => "reads only",
        };
        tell(&format!("serving {} ({what}); Ctrl-C ends it", args.at.folder.display()));
        if let Some(file) = &args.verdicts {
            tell(&format!("verdicts go to {}", file.display()));
        }
        server.run(&progress)?;
        tell("ended");
        // Being told to end is how a server ends.
        Ok(ExitCode::SUCCESS)
    }

    /// What was named: a collection, or an output of `dedup`, whose inputs are found again.
    fn what(args: &ServeArgs, progress: &Arc<Progress>) -> Result<ServeWhat> {
        Ok(match finished_run(&args.at)? {
            Some(run) => {
                ServeWhat::Output(Box::new(served_inputs(run, Machine::new(&args.machine)?, progress)?))
            }
            None if args.at.when.at.is_some() => ServeWhat::Commit(Box::new(open(&args.at.collection())?)),
            None => ServeWhat::Collection(reach(&args.at.collection().place, None)?),
        })
    }

    /// Makes sense of the arguments.
    fn options(args: &ServeArgs) -> Result<ServeOptions> {
        let machine = Machine::new(&args.machine)?;
        let token = secret::token(args.token_file.as_deref(), &environment, &warn)?;
        let size = |flag: &str, text: &str| {
            parse_size(text).map_err(|error| Error::config(format!("{flag}: {error}")))
        };
        let options = ServeOptions {
            listen: listen_addresses("--listen", &args.listen, 0)?,
            token: token.as_deref().map(AccessToken::new),
            public_read: args.public_read,
            verdicts: args.verdicts.clone(),
            hosts: args.host.iter().map(|host| host.to_ascii_lowercase()).collect(),
            body: size("--max-body", &args.max_body)?,
            load: size("--max-load", &args.max_load)?,
            timeout: Duration::from_secs(args.timeout.get() as u64),
            connections: args.connections.get(),
            workers: machine.workers,
            memory: machine.memory,
            simd: machine.simd,
            title_field: FieldPath::parse(&args.title_field)?,
            scratch: std::env::temp_dir(),
            log: Arc::new(|line: &str| warn(line)),
        };
        if options.is_private() && options.token.is_none() {
            return Err(Error::config(format!(
                "--listen {}: others can reach this address; give a token with --token-file, which reading takes too, or let \
                 anybody read with --public-read",
                args.listen
            )));
        }
        if let (Some(file), None, false) = (&args.verdicts, &options.token, options.is_local()) {
            return Err(Error::config(format!(
                "--verdicts {}: others can reach {} and could write; give a token with --token-file, which verdicts take",
                file.display(),
                args.listen
            )));
        }
        Ok(options)
    }
}
