//! Ways to get the protocol wrong. The model finds each of them: a model that cannot fail proves nothing.

/// What is done otherwise than it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// A follower does not sync the contents of its run.
    UnsyncedRun,
    /// A follower does not sync the names of its runs.
    UnsyncedNames,
    /// A follower does not sync the name of its folder if the folder is there already. Who made it may have been killed
    /// before that.
    UnsyncedFolder,
    /// The leader names a follower's run before the follower has said that it is durable.
    NamedEarly,
    /// The runs of the commit before the last one are not kept.
    ForgetsCommitBefore,
    /// The followers keep no runs of the commits before that one which stay.
    ForgetsOlder,
    /// A writer removes what only those commits name, and their manifests.
    RemovesOlder,
    /// The runs of an interrupted load are not kept.
    ForgetsCheckpoint,
    /// Followers tidy for a commit that is not durable yet.
    TidiesUnacknowledged,
    /// A follower removes what it finds when it comes to it, without asking whether its leader is still there. The next
    /// job may have begun by then.
    TidiesWithoutAsking,
    /// A follower also removes what has a greater number than the last commit knows. Who has lost the lock removes runs
    /// of whoever has it now.
    TidiesAll,
    /// A run is begun when one follower has tidied, while another of the same machine still looks what to remove.
    BeginsEarly,
    /// The names of runs say nothing of the job that wrote them.
    NamesWithoutJob,
    /// Who opens does not make durable what it has found, before it removes what that supersedes.
    OpensWithoutSync,
    /// Checkpoints and the runs that they name are removed together, and a power cut may bring back either.
    AbandonsAtOnce,
    /// Who opens does not look again once nobody else can publish.
    NoSecondLook,
    /// Unfinished manifests of one commit have one name, whoever writes them.
    SharedUnfinishedName,
    /// A writer gives its manifest its name before its runs are durable.
    LinksUnsynced,
}
