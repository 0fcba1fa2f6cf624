//! The commands of `README.md` and of the book in `docs/`, as a reader would type them.
//!
//! A block of the kind `console` is a session in a terminal. Each line that begins with `$ ` is a command, and what stands
//! below it is its output, up to the next command. All sessions of a page run one after another in one temporary folder,
//! which holds `samples/`. Every command must succeed, and print what is shown if anything is shown. There `...` alone on a
//! line stands for any lines, and `[..]` for any part of a line. Memory, seconds and rates differ from run to run, so only
//! the first word of their lines counts. `ALIKE_REWRITE_DOCS=1` writes what the commands print into the pages.
//!
//! A block of the kind `sh` needs what the test lacks, such as other machines. Each command of `alike` in it must be one
//! that the program understands. A block of the kind `rust` stands in a file of `examples/`, which is compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// A command of a session, and what the page shows below it.
struct Step {
    command: String,
    shown: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `README.md` and all pages of the book.
fn papers() -> Vec<PathBuf> {
    let mut papers = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    let mut folders = vec![root().join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the book") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                papers.push(path);
            }
        }
    }
    papers
}

/// The lines of all blocks of one kind.
fn blocks<'a>(text: &'a str, kind: &str) -> Vec<Vec<&'a str>> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    let fence = format!("```{kind}");
    while lines.any(|line| line == fence) {
        found.push(lines.by_ref().take_while(|line| *line != "```").collect());
    }
    found
}

fn steps(block: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), shown: Vec::new() });
        } else {
            let step = steps.last_mut().expect("a session begins with a command");
            step.shown.push((*line).to_owned());
        }
    }
    steps
}

/// The lines of an output: without colours, and without what stands at the end of lines and is not seen.
fn as_seen(raw: &[u8]) -> Vec<String> {
    let mut seen = Vec::new();
    for line in String::from_utf8_lossy(raw).lines() {
        let mut parts = line.split('\u{1b}');
        let mut plain = parts.next().expect("a part").to_owned();
        for part in parts {
            let end = part.find(|c: char| c.is_ascii_alphabetic()).expect("a control sequence ends");
            plain.push_str(&part[end + 1..]);
        }
        seen.push(plain.trim_end().to_owned());
    }
    while seen.last().is_some_and(String::is_empty) {
        seen.pop();
    }
    seen
}

fn line_matches(shown: &str, printed: &str) -> bool {
    const MEASURED: [&str; 3] = ["  memory ", "  seconds ", "  rate "];
    if MEASURED.iter().any(|word| shown.starts_with(word) && printed.starts_with(word)) {
        return true;
    }
    let mut parts = shown.split("[..]");
    let mut rest = match printed.strip_prefix(parts.next().expect("a part")) {
        Some(rest) => rest,
        None => return false,
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn matches(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((any, rest)) if any == "..." => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, others)| line_matches(line, first) && matches(rest, others)),
    }
}

/// Runs a command with a terminal as standard output, as a reader does: tables are for people there, JSON is for pipes.
/// Standard error is a file, so that there is no progress in it; what it says comes last.
fn run(command: &str, folder: &Path) -> (bool, Vec<String>) {
    let program = Path::new(env!("CARGO_BIN_EXE_alike")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a PATH"));
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &format!("{{ {command}; }} 2>.stderr"), "/dev/null"])
        .current_dir(folder)
        .env("PATH", path)
        .env("SHELL", "/bin/sh")
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("`script` of util-linux");
    let mut seen = as_seen(&output.stdout);
    seen.extend(as_seen(&fs::read(folder.join(".stderr")).expect("standard error")));
    (output.status.success(), seen)
}

/// Runs the sessions of a page; says what is not as shown, and gives the page as it should be.
fn sessions(text: &str) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("samples")).expect("a folder");
    fs::copy(root().join("samples/licences.jsonl"), folder.path().join("samples/licences.jsonl"))
        .expect("a copy");
    let mut faults = Vec::new();
    let mut page = text.to_owned();
    for block in blocks(text, "console") {
        let mut now = String::new();
        for step in steps(&block) {
            let (good, printed) = run(&step.command, folder.path());
            let shown_right = step.shown.is_empty() || matches(&step.shown, &printed);
            if !good {
                faults.push(format!("$ {}\nfails:\n{}", step.command, printed.join("\n")));
            } else if !shown_right {
                let (shown, printed) = (step.shown.join("\n"), printed.join("\n"));
                faults.push(format!("$ {}\nis shown with\n{shown}\nbut prints\n{printed}", step.command));
            }
            let lines = if shown_right { &step.shown } else { &printed };
            now.push_str(&format!("$ {}\n", step.command));
            for line in lines {
                now.push_str(line);
                now.push('\n');
            }
        }
        let before = format!("```console\n{}\n```", block.join("\n"));
        page = page.replacen(&before, &format!("```console\n{now}```"), 1);
    }
    (faults, page)
}

#[cfg(target_os = "linux")]
#[test]
fn sessions_print_what_the_papers_show() {
    let rewrite = std::env::var_os("ALIKE_REWRITE_DOCS").is_some();
    let papers = papers();
    let faults: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = papers
            .iter()
            .map(|paper| {
                scope.spawn(move || {
                    let text = fs::read_to_string(paper).expect("a page");
                    let (faults, page) = sessions(&text);
                    if rewrite && page != text {
                        fs::write(paper, page).expect("a page is written");
                    }
                    faults.into_iter().map(|fault| format!("{}\n{fault}\n", paper.display())).collect()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| -> Vec<String> { thread.join().expect("no panic") }).collect()
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The commands of the program in a line of a shell, each as its arguments.
fn commands_of_alike(line: &str) -> Vec<Vec<String>> {
    let line = line.split(" #").next().expect("a part").replace(['\'', '"'], "");
    let mut found = Vec::new();
    for command in line.split([';', '|']).flat_map(|part| part.split("&&")) {
        let mut words = command.split_whitespace().skip_while(|word| word.contains('=')).peekable();
        if words.next_if_eq(&"alike").is_none() {
            continue;
        }
        let words: Vec<String> =
            words.take_while(|word| !word.starts_with(['>', '<'])).map(str::to_owned).collect();
        for part in words.split(|word| word == "--") {
            found.push(part.to_vec());
        }
    }
    found
}

#[test]
fn commands_that_need_more_are_understood() {
    let mut seen = 0;
    for paper in papers() {
        let text = fs::read_to_string(&paper).expect("a page");
        for line in blocks(&text, "sh").concat() {
            for arguments in commands_of_alike(line) {
                let output =
                    Command::new(env!("CARGO_BIN_EXE_alike")).args(&arguments).arg("--help").output();
                let output = output.expect("it runs");
                let message = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{}: {line}\n{message}", paper.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "only {seen} commands of alike in all papers");
}

#[test]
fn rust_is_taken_from_the_examples() {
    let lines = |text: &str| {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    let folder = fs::read_dir(root().join("examples")).expect("a folder");
    let examples: Vec<String> = folder
        .map(|file| lines(&fs::read_to_string(file.expect("an entry").path()).expect("an example")))
        .collect();
    let mut seen = 0;
    for paper in papers() {
        let text = fs::read_to_string(&paper).expect("a page");
        for block in blocks(&text, "rust") {
            let block = lines(&block.join("\n"));
            let known = examples.iter().any(|example| example.contains(&block));
            assert!(known, "{}: no file of examples/ has\n{block}", paper.display());
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen} blocks of Rust in all papers");
}

#[test]
fn a_page_is_read_as_described() {
    let text = "a\n```console\n$ one\nx [..] z\n...\nend\n$ two\n```\n```sh\nalike load c <in && A=b alike launch -n 2 -- load c\n```\n";
    let steps = steps(&blocks(text, "console")[0]);
    assert_eq!((steps[0].command.as_str(), steps[1].command.as_str()), ("one", "two"));
    let printed = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert!(matches(&steps[0].shown, &printed(&["x and z", "more", "and more", "end"])));
    assert!(matches(&steps[0].shown, &printed(&["x  z", "end"])));
    assert!(!matches(&steps[0].shown, &printed(&["x and y", "end"])));
    assert!(!matches(&steps[0].shown, &printed(&["x and z", "more"])));
    assert!(line_matches("  seconds     1", "  seconds     2") && !line_matches("  text 1", "  text 2"));
    assert_eq!(as_seen(b"a \x1b[31mred\x1b[0m word \r\n\r\n"), ["a red word"]);
    let commands = commands_of_alike(blocks(text, "sh")[0][0]);
    assert_eq!(commands, [vec!["load", "c"], vec!["launch", "-n", "2"], vec!["load", "c"]]);
}
