//! A folder as a file system keeps it: what is there now, and what a power cut leaves.

use std::collections::BTreeMap;

/// A commit number, a run id, or an attempt: each small.
pub type Small = u8;

/// What a file is, by its name. The order is that in which files are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name {
    /// A manifest on its way, by its commit and the attempt that makes it: no two writers have one of the same name.
    Unfinished(Small, Small),
    /// What there is of a commit, and how many epochs of it are done.
    Checkpoint(Small, Small),
    Manifest(Small),
    Run(Small),
    /// A run that a follower keeps to itself, by its id and the job that wrote it.
    Kept(Small, Small),
    /// For which commit a follower's folder was last tidied, and the attempt that made it, which stands for its digest.
    Tidied(Small, Small),
}

/// A run as a manifest names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    pub id: Small,
    /// The attempt that wrote it, which stands for its digest.
    pub by: Small,
    /// The job by which a follower keeps it to itself, if one does.
    pub job: Option<Small>,
}

impl Run {
    pub fn name(&self) -> Name {
        self.job.map_or(Name::Run(self.id), |job| Name::Kept(self.id, job))
    }
}

/// What a manifest says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Manifest {
    pub commit: Small,
    pub runs: Vec<Run>,
    pub next_run: Small,
    /// The first commit that stays beside this one.
    pub from: Small,
    /// The attempt that made it.
    pub by: Small,
}

impl Manifest {
    /// Whether a file is one of this commit.
    pub fn names(&self, name: Name) -> bool {
        match name {
            Name::Manifest(commit) => commit == self.commit,
            Name::Run(_) | Name::Kept(..) => self.runs.iter().any(|run| run.name() == name),
            Name::Unfinished(..) | Name::Checkpoint(..) | Name::Tidied(..) => false,
        }
    }
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    Manifest(Manifest),
    /// A run, by the attempt that wrote it.
    Run(Small),
    /// Nothing: the name says it all.
    Note,
    /// What a power cut left of contents that were not synced.
    Garbage,
}

/// A file: its contents, and whether they are durable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct File {
    pub content: Content,
    pub synced: bool,
}

/// The folder of a collection, or that of a follower.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Folder {
    now: BTreeMap<Name, File>,
    /// Names as they were when they were synced last.
    durable: BTreeMap<Name, File>,
}

impl Folder {
    pub fn get(&self, name: Name) -> Option<&Content> {
        self.now.get(&name).map(|file| &file.content)
    }

    pub fn has(&self, name: Name) -> bool {
        self.now.contains_key(&name)
    }

    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.now.keys().copied()
    }

    /// The epochs of a commit of which there is a checkpoint, the last first.
    pub fn epochs(&self, commit: Small) -> Vec<Small> {
        let epoch = |name| match name {
            Name::Checkpoint(of, epoch) if of == commit => Some(epoch),
            _ => None,
        };
        let mut epochs: Vec<Small> = self.names().filter_map(epoch).collect();
        epochs.reverse();
        epochs
    }

    /// The greatest commit that there is a manifest of.
    pub fn newest(&self) -> Option<Small> {
        let commit = |name| if let Name::Manifest(commit) = name { Some(commit) } else { None };
        self.names().filter_map(commit).max()
    }

    /// A manifest or checkpoint as it is read: none if there is none, an error if it is not whole.
    pub fn manifest(&self, name: Name) -> Option<Result<&Manifest, ()>> {
        self.get(name)
            .map(|content| if let Content::Manifest(manifest) = content { Ok(manifest) } else { Err(()) })
    }

    /// Whether a new file could be made.
    #[must_use]
    pub fn create(&mut self, name: Name, content: Content) -> bool {
        let free = !self.has(name);
        if free {
            self.now.insert(name, File { content, synced: false });
        }
        free
    }

    /// Makes the contents of a file durable, whatever its name is by now.
    pub fn sync(&mut self, name: Name) {
        for names in [&mut self.now, &mut self.durable] {
            names.entry(name).and_modify(|file| file.synced = true);
        }
    }

    /// Whether a second name could be given.
    #[must_use]
    pub fn link(&mut self, from: Name, to: Name) -> bool {
        let free = !self.has(to) && self.has(from);
        if free {
            self.now.insert(to, self.now[&from].clone());
        }
        free
    }

    /// Whether there was such a name to be removed.
    #[must_use]
    pub fn remove(&mut self, name: Name) -> bool {
        self.now.remove(&name).is_some()
    }

    /// A file is lost: no program did it.
    pub fn lose(&mut self, name: Name) {
        self.now.remove(&name);
        self.durable.remove(&name);
    }

    pub fn sync_names(&mut self) {
        self.durable = self.now.clone();
    }

    /// Names of which a power cut may leave either what is there now or what was durable.
    pub fn undecided(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.now.keys().chain(self.durable.keys()).copied().collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| self.now.get(name) != self.durable.get(name));
        names
    }

    /// What a power cut leaves: of the undecided names, those whose bit is set are as they are now.
    pub fn after_power_cut(&self, chosen: u32) -> Folder {
        let mut left = self.durable.clone();
        for (bit, name) in self.undecided().into_iter().enumerate() {
            if chosen >> bit & 1 == 1 {
                match self.now.get(&name) {
                    Some(file) => left.insert(name, file.clone()),
                    None => left.remove(&name),
                };
            }
        }
        for file in left.values_mut().filter(|file| !file.synced) {
            *file = File { content: Content::Garbage, synced: true };
        }
        Folder { now: left.clone(), durable: left }
    }
}
