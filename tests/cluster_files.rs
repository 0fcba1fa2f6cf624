//! The files of `cluster/`, each read as what it is for: what stands in several places is the same in all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use yaml_rust2::{Yaml, YamlLoader};

use crate::support::program::Dir;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster").join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The objects of kubernetes.yaml by their kind, of which there is one each.
fn objects() -> BTreeMap<String, Yaml> {
    objects_of("kubernetes.yaml")
}

fn objects_of(file: &str) -> BTreeMap<String, Yaml> {
    let documents = YamlLoader::load_from_str(&read(file)).expect("YAML");
    let count = documents.len();
    let objects: BTreeMap<String, Yaml> =
        documents.into_iter().map(|object| (text(&object["kind"]).to_owned(), object)).collect();
    assert_eq!(objects.len(), count, "a kind stands there twice");
    objects
}

#[track_caller]
fn text(yaml: &Yaml) -> &str {
    yaml.as_str().unwrap_or_else(|| panic!("expected text: {yaml:?}"))
}

#[track_caller]
fn list(yaml: &Yaml) -> &[Yaml] {
    yaml.as_vec().unwrap_or_else(|| panic!("expected a list: {yaml:?}"))
}

/// The item of a list with this name.
#[track_caller]
fn named<'a>(yaml: &'a Yaml, name: &str) -> &'a Yaml {
    let found = list(yaml).iter().find(|item| item["name"].as_str() == Some(name));
    found.unwrap_or_else(|| panic!("no {name} in {yaml:?}"))
}

/// The addresses of a file of hosts.
fn addresses(hosts: &str) -> Vec<(String, i64)> {
    let lines = hosts.lines().map(|line| line.split('#').next().unwrap().trim());
    lines
        .filter(|line| !line.is_empty())
        .map(|line| line.rsplit_once(':').expect("host:port"))
        .map(|(host, port)| (host.to_owned(), port.parse().expect("a port")))
        .collect()
}

#[test]
fn kubernetes_has_the_objects_of_a_job_of_many_pods() {
    let objects = objects();
    let versions: BTreeMap<&str, &str> =
        objects.iter().map(|(kind, object)| (kind.as_str(), text(&object["apiVersion"]))).collect();
    let expected = [
        ("ConfigMap", "v1"),
        ("Job", "batch/v1"),
        ("NetworkPolicy", "networking.k8s.io/v1"),
        ("PersistentVolumeClaim", "v1"),
        ("Secret", "v1"),
        ("Service", "v1"),
    ];
    assert_eq!(versions, expected.into());
    let job = &objects["Job"]["spec"];
    assert_eq!(text(&job["completionMode"]), "Indexed");
    assert_eq!(job["completions"], job["parallelism"]);
    let pod = &job["template"]["spec"];
    // A policy for failures of pods is for pods that are not started again in place.
    assert_eq!(text(&pod["restartPolicy"]), "Never");
    let rules = list(&job["podFailurePolicy"]["rules"]);
    let codes: Vec<i64> =
        list(&rules[0]["onExitCodes"]["values"]).iter().map(|code| code.as_i64().unwrap()).collect();
    assert_eq!((text(&rules[0]["action"]), codes), ("FailJob", vec![2, 3, 4]), "5 is tried again");
    assert_eq!(text(&rules[0]["onExitCodes"]["containerName"]), text(&pod["containers"][0]["name"]));
    assert!(job["backoffLimit"].as_i64() > job["completions"].as_i64());
    let claim = &objects["PersistentVolumeClaim"]["spec"];
    assert_eq!(text(&claim["accessModes"][0]), "ReadWriteMany");
}

#[test]
fn kubernetes_labels_names_and_hosts_agree() {
    let objects = objects();
    let job = &objects["Job"];
    let (spec, template) = (&job["spec"], &job["spec"]["template"]);
    let labels = &template["metadata"]["labels"];
    assert!(!labels.is_badvalue());
    let policy = &objects["NetworkPolicy"]["spec"];
    let from = &policy["ingress"][0]["from"];
    for selector in [
        &objects["Service"]["spec"]["selector"],
        &policy["podSelector"]["matchLabels"],
        &from[0]["podSelector"]["matchLabels"],
        &template["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"],
    ] {
        assert_eq!(selector, labels);
    }
    // Nobody else may come in: one rule, one sender.
    assert_eq!((list(&policy["ingress"]).len(), list(from).len()), (1, 1));
    assert_eq!(list(&policy["policyTypes"]), [Yaml::String("Ingress".into())]);

    let service = text(&objects["Service"]["metadata"]["name"]);
    assert_eq!(text(&objects["Service"]["spec"]["clusterIP"]), "None");
    assert_eq!(objects["Service"]["spec"]["publishNotReadyAddresses"], Yaml::Boolean(true));
    assert_eq!(text(&template["spec"]["subdomain"]), service);
    let hosts = addresses(text(&objects["ConfigMap"]["data"]["hosts"]));
    assert_eq!(Some(hosts.len() as i64), spec["completions"].as_i64());
    let name = text(&job["metadata"]["name"]);
    for (i, (host, _)) in hosts.iter().enumerate() {
        assert_eq!(*host, format!("{name}-{i}.{service}"));
    }
    let ports: BTreeSet<i64> = hosts.iter().map(|(_, port)| *port).collect();
    let [port] = ports.into_iter().collect::<Vec<_>>()[..] else {
        panic!("pods have addresses of their own")
    };
    let of_service = &objects["Service"]["spec"]["ports"][0];
    for place in [
        &of_service["port"],
        &of_service["targetPort"],
        &policy["ingress"][0]["ports"][0]["port"],
        &template["spec"]["containers"][0]["ports"][0]["containerPort"],
    ] {
        assert_eq!(place.as_i64(), Some(port));
    }
}

#[test]
fn kubernetes_says_where_the_metrics_are() {
    let objects = objects();
    let template = &objects["Job"]["spec"]["template"];
    let container = &template["spec"]["containers"][0];
    let address = text(&named(&container["env"], "ALIKE_METRICS")["value"]);
    let port = address.strip_prefix("0.0.0.0:").expect("reached from outside the pod");
    let annotations = &template["metadata"]["annotations"];
    assert_eq!(text(&annotations["prometheus.io/port"]), port);
    assert_eq!(text(&annotations["prometheus.io/path"]), "/metrics");
    assert_eq!(text(&annotations["prometheus.io/scrape"]), "true");
    let open = named(&container["ports"], "metrics")["containerPort"].as_i64();
    assert_eq!(open, port.parse().ok());
    assert_ne!(open, container["ports"][0]["containerPort"].as_i64());
}

#[test]
fn kubernetes_mounts_what_the_environment_names() {
    let objects = objects();
    let pod = &objects["Job"]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    // A file is the name of its key in a folder where a volume is mounted.
    for (variable, volume, object, keys) in [
        ("ALIKE_HOSTS", "configMap", "ConfigMap", "data"),
        ("ALIKE_SECRET_FILE", "secret", "Secret", "stringData"),
    ] {
        let path = Path::new(text(&named(&container["env"], variable)["value"]));
        let mounts = list(&container["volumeMounts"]);
        let mount =
            mounts.iter().find(|mount| Path::new(text(&mount["mountPath"])) == path.parent().unwrap());
        let mount = mount.unwrap_or_else(|| panic!("nothing is mounted at {}", path.display()));
        assert_eq!(mount["readOnly"], Yaml::Boolean(true));
        let source = &named(&pod["volumes"], text(&mount["name"]))[volume];
        let name = source["name"].as_str().or(source["secretName"].as_str());
        assert_eq!(name, objects[object]["metadata"]["name"].as_str());
        let key = path.file_name().and_then(|name| name.to_str()).unwrap();
        assert!(!objects[object][keys][key].is_badvalue(), "{object} has no {key}");
    }
    for mount in list(&container["volumeMounts"]) {
        named(&pod["volumes"], text(&mount["name"]));
    }
    let claim = &named(&pod["volumes"], "data")["persistentVolumeClaim"]["claimName"];
    assert_eq!(text(claim), text(&objects["PersistentVolumeClaim"]["metadata"]["name"]));
    // YAML 1.1 reads 0440 as octal, which is what is meant; whoever reads it as decimal gets 440 and is refused here.
    assert!(read("kubernetes.yaml").contains("defaultMode: 0440\n"));
    let placeholder = text(&objects["Secret"]["stringData"]["secret"]);
    assert!(placeholder.len() < 16, "a secret that everybody knows must be refused");
}

#[test]
fn kubernetes_asks_each_pod_whether_it_is_there() {
    let objects = objects();
    let container = &objects["Job"]["spec"]["template"]["spec"]["containers"][0];
    let asked = &container["readinessProbe"]["httpGet"];
    assert_eq!(text(&asked["path"]), "/healthz");
    named(&container["ports"], text(&asked["port"]));
}

#[test]
fn kubernetes_runs_dedup_as_it_runs_a_load() {
    let (load, dedup) = (objects(), objects_of("kubernetes-dedup.yaml"));
    assert_eq!(dedup.keys().collect::<Vec<_>>(), ["ConfigMap", "Job"], "the rest is there already");
    let (of_load, job) = (&load["Job"]["spec"], &dedup["Job"]["spec"]);
    for key in [
        "completionMode",
        "completions",
        "parallelism",
        "backoffLimit",
        "podReplacementPolicy",
        "podFailurePolicy",
    ] {
        assert_eq!(job[key], of_load[key], "{key}");
    }
    assert_eq!(job["template"]["metadata"], of_load["template"]["metadata"]);
    let (of_load, pod) = (&of_load["template"]["spec"], &job["template"]["spec"]);
    for key in of_load.as_hash().unwrap().keys().filter(|key| !["containers", "volumes"].contains(&text(key)))
    {
        assert_eq!(pod[text(key)], of_load[text(key)], "{key:?}");
    }
    let (of_load, container) = (&of_load["containers"][0], &pod["containers"][0]);
    for key in of_load.as_hash().unwrap().keys().filter(|key| text(key) != "args") {
        assert_eq!(container[text(key)], of_load[text(key)], "{key:?}");
    }
    assert_eq!(text(&container["args"][0]), "dedup");
    let name = text(&dedup["ConfigMap"]["metadata"]["name"]);
    assert_eq!(text(&named(&pod["volumes"], "hosts")["configMap"]["name"]), name);
    let hosts = addresses(text(&dedup["ConfigMap"]["data"]["hosts"]));
    let service = text(&load["Service"]["metadata"]["name"]);
    for (i, (host, port)) in hosts.iter().enumerate() {
        assert_eq!(*host, format!("{}-{i}.{service}", text(&dedup["Job"]["metadata"]["name"])));
        assert_eq!(Some(*port), load["Service"]["spec"]["ports"][0]["port"].as_i64());
    }
    assert_eq!(Some(hosts.len() as i64), job["completions"].as_i64());
}

#[test]
fn kubernetes_pods_may_do_nothing_but_their_work() {
    let objects = objects();
    let pod = &objects["Job"]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let (yes, no) = (Yaml::Boolean(true), Yaml::Boolean(false));
    assert_eq!(pod["securityContext"]["runAsNonRoot"], yes);
    assert!(pod["securityContext"]["runAsUser"].as_i64() > Some(0));
    assert_eq!(pod["securityContext"]["runAsGroup"], pod["securityContext"]["fsGroup"]);
    assert_eq!(pod["automountServiceAccountToken"], no);
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], yes);
    assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], no);
    assert_eq!(text(&container["securityContext"]["capabilities"]["drop"][0]), "ALL");
    assert!(!container["resources"]["limits"]["memory"].is_badvalue());
    let user = read("Containerfile");
    let user = user.lines().find_map(|line| line.strip_prefix("USER ")).expect("USER");
    let ids = [&pod["securityContext"]["runAsUser"], &pod["securityContext"]["runAsGroup"]];
    assert_eq!(user, ids.map(|id| id.as_i64().unwrap().to_string()).join(":"));
    let image = text(&container["image"]);
    assert!(image.ends_with(concat!(":", env!("CARGO_PKG_VERSION"))) && read("README.md").contains(image));
}

#[test]
fn slurm_asks_for_what_it_uses() {
    let script = read("slurm.sbatch");
    assert!(script.starts_with("#!/bin/bash\n"));
    let mut options = BTreeMap::new();
    let mut over = false;
    for line in script.lines().skip(1) {
        over |= !line.starts_with('#') && !line.is_empty();
        let Some(option) = line.strip_prefix("#SBATCH ") else {
            assert!(!line.starts_with("#SBATCH"), "{line}");
            continue;
        };
        assert!(!over, "behind the first command Slurm does not read it: {line}");
        let option = option.strip_prefix("--").expect("a long option");
        assert!(!option.contains(char::is_whitespace), "{line}");
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        assert!(options.insert(name, value).is_none(), "{name} is given twice");
    }
    assert_eq!(options["ntasks-per-node"], "1", "the file of hosts has a line a node");
    assert!(options["nodes"].parse::<u32>().is_ok_and(|nodes| nodes > 1));
    assert!(options["signal"].starts_with("TERM@"), "to the tasks, not to the script alone");
    for name in ["cpus-per-task", "mem", "time", "requeue", "job-name", "output"] {
        assert!(options.contains_key(name), "{name}");
    }
}

/// The batch script with Slurm's own programs played by scripts.
fn batch(dir: &Dir, words: &[&str], code: i32) -> (Option<i32>, String) {
    dir.write(
        "bin/scontrol",
        "#!/bin/sh\necho \"scontrol $*\" >> calls\n[ \"$1\" = show ] && printf 'n1\\nn2\\n'\nexit 0\n",
    );
    let srun = format!(
        "#!/bin/sh\necho \"srun $*\" >> calls\nenv | grep ^ALIKE | sort >> calls\ncat \"$ALIKE_HOSTS\" >> calls\nexit {code}\n"
    );
    dir.write("bin/srun", srun);
    for name in ["bin/scontrol", "bin/srun"] {
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", dir.join("bin").display(), std::env::var("PATH").unwrap());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/slurm.sbatch");
    let output = Command::new("bash")
        .arg(script)
        .args(words)
        .current_dir(dir.path())
        .env("PATH", path)
        .env("HOME", "/home/me")
        .envs([("SLURM_JOB_ID", "17"), ("SLURM_JOB_NODELIST", "n[1-2]")])
        .envs([("SLURM_CPUS_PER_TASK", "16"), ("SLURM_MEM_PER_NODE", "8000")])
        .output()
        .unwrap();
    let calls = fs::read_to_string(dir.join("calls")).unwrap();
    fs::remove_file(dir.join("calls")).unwrap();
    assert!(!dir.join("alike-17.hosts").exists(), "the hosts go with the job");
    (output.status.code(), calls)
}

#[test]
fn slurm_starts_a_process_a_node_and_goes_on_after_a_loss() {
    let dir = Dir::new();
    for (code, again) in [(0, false), (1, false), (3, false), (5, true), (130, true)] {
        let (ended, calls) = batch(&dir, &["load", "archive", "crawl dir"], code);
        assert_eq!(ended, Some(code));
        assert!(calls.contains("n1:2101\nn2:2101\n"), "{calls}");
        assert!(calls.contains("ALIKE_SECRET_FILE=/home/me/.alike-secret"), "{calls}");
        assert!(calls.contains("srun --cpus-per-task=16 "), "{calls}");
        assert!(calls.contains("alike load archive crawl dir -w 16 --memory 6000M"), "{calls}");
        assert_eq!(calls.contains("scontrol requeue 17"), again, "{calls}");
    }
}

#[test]
fn slurm_runs_dedup_too() {
    let dir = Dir::new();
    let (ended, calls) = batch(&dir, &["dedup", "crawl", "--out", "clean"], 0);
    assert_eq!(ended, Some(0));
    assert!(
        calls.contains("alike dedup crawl --out clean -w 16 --memory 6000M --join-timeout 300"),
        "{calls}"
    );
}

/// The settings of a unit file by section and name; a name may stand there several times.
fn unit(name: &str) -> BTreeMap<(String, String), Vec<String>> {
    let mut section = String::new();
    let mut settings: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for line in read(name).lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.to_owned();
        } else {
            let (name, value) = line.split_once('=').unwrap_or_else(|| panic!("no setting: {line}"));
            settings.entry((section.clone(), name.to_owned())).or_default().push(value.to_owned());
        }
    }
    settings
}

#[test]
fn the_timer_starts_the_unit_and_both_stop_in_order() {
    let (service, timer) = (unit("alike@.service"), unit("alike-daily.timer"));
    let of = |unit: &BTreeMap<(String, String), Vec<String>>, section: &str, name: &str| {
        unit.get(&(section.to_owned(), name.to_owned())).map(|values| values.join(" ")).unwrap_or_default()
    };
    assert!(of(&timer, "Timer", "Unit").starts_with("alike@"));
    assert_eq!(of(&timer, "Install", "WantedBy"), "timers.target");
    assert_eq!(of(&service, "Service", "Type"), "oneshot");
    // Were every process told to end, those that the launcher tells, too, would be told twice, which is at once.
    assert_eq!(of(&service, "Service", "KillMode"), "mixed");
    assert_eq!(of(&service, "Service", "RestartPreventExitStatus"), "2 3 4");
    let credential = of(&service, "Service", "LoadCredential");
    let (name, _) = credential.split_once(':').expect("name:path");
    assert_eq!(of(&service, "Service", "Environment"), format!("ALIKE_SECRET_FILE=%d/{name}"));
    let written = of(&service, "Service", "ReadWritePaths");
    let command = of(&service, "Service", "ExecStart");
    assert!(command.split(' ').filter(|word| word.contains("%i")).all(|path| path.starts_with(&written)));
}

#[test]
fn the_container_is_built_from_all_that_the_manifest_names() {
    let file = read("Containerfile").replace("\\\n", " ");
    let mut stages = 0;
    let mut copied = BTreeSet::new();
    let known = ["FROM", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "ENTRYPOINT", "CMD"];
    for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(known.contains(&words[0]), "{line}");
        match words[..] {
            ["FROM", image, ..] => {
                stages += 1;
                assert!(image.contains(':') && !image.ends_with(":latest"), "{line}");
            }
            ["COPY", ref sources @ .., _] if !line.contains("--from") => {
                copied.extend(sources.iter().copied());
            }
            ["ENTRYPOINT" | "CMD", ..] => {
                let json = line.split_once(' ').unwrap().1;
                serde_json::from_str::<Vec<String>>(json)
                    .expect("a list, or a shell is needed that is not there");
            }
            _ => {}
        }
    }
    assert_eq!(stages, 2);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for source in &copied {
        assert!(root.join(source).exists(), "{source}");
    }
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let paths = manifest.lines().filter_map(|line| line.strip_prefix("path = \"")?.strip_suffix('"'));
    let folders: BTreeSet<&str> = paths.filter_map(|path| path.split('/').next()).collect();
    assert!(!folders.is_empty());
    for needed in folders.into_iter().chain(["benches", "configs", "Cargo.toml", "Cargo.lock"]) {
        assert!(copied.contains(needed), "{needed} is not copied");
    }
}

#[test]
fn the_example_of_hosts_is_one() {
    let hosts = addresses(&read("hosts.example"));
    let names: BTreeSet<_> = hosts.iter().collect();
    assert!(hosts.len() > 1 && names.len() == hosts.len());
    let dir = Dir::new();
    dir.write("hosts", read("hosts.example"));
    // It is taken as it is: what is refused is something else.
    dir.alike("load c in --hosts hosts", None)
        .code(2)
        .says(&format!("which of the {} processes", hosts.len()));
}

#[test]
fn the_readme_names_every_file_and_no_other() {
    let readme = read("README.md");
    let section =
        readme.split("\n| file |").nth(1).and_then(|text| text.split("\n\n").next()).expect("the table");
    let named: BTreeSet<&str> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split(" |").next())
        .flat_map(|cell| cell.split('`').step_by(2))
        .filter(|name| !name.trim_matches([',', ' ']).is_empty())
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster");
    let there: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected: BTreeSet<&str> =
        there.iter().map(String::as_str).filter(|name| *name != "README.md").collect();
    assert_eq!(named, expected);
}
