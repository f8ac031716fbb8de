//! `kustomize completion`: scripts made from the commands themselves.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Args, Command, CommandFactory as _};

use super::{like_pflag, print};
use crate::build::Kustomize;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// bash, zsh, fish or powershell
    #[arg(value_name = "SHELL")]
    words: Vec<String>,
}

impl Arguments {
    pub(crate) fn run(self) -> Result<(), String> {
        let [shell] = &self.words[..] else {
            return Err(format!("accepts 1 arg(s), received {}", self.words.len()));
        };
        let mut command = like_pflag(Kustomize::command());
        command.build();
        let mut words = Words::new();
        collect(&command, "kustomize".to_owned(), &mut words);
        print(&match shell.as_str() {
            "bash" => bash(&words),
            "zsh" => zsh(&words),
            "fish" => fish(&words),
            "powershell" => powershell(&words),
            other => {
                return Err(format!(
                    "invalid argument {other:?} for \"kustomize completion\""
                ));
            }
        })
    }
}

/// What can follow each command, and what it is for.
type Words = BTreeMap<String, Vec<(String, String)>>;

fn collect(command: &Command, path: String, words: &mut Words) {
    let mut next = Vec::new();
    for inner in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        let about = inner.get_about().map(ToString::to_string);
        next.push((inner.get_name().to_owned(), about.unwrap_or_default()));
        if inner.get_name() != "help" {
            collect(inner, format!("{path} {}", inner.get_name()), words);
        }
    }
    for flag in command.get_arguments().filter(|it| !it.is_hide_set()) {
        let about = flag.get_help().map(ToString::to_string);
        let long = flag.get_long().map(|it| format!("--{it}"));
        let short = flag.get_short().map(|it| format!("-{it}"));
        let names = [short, long].into_iter().flatten();
        next.extend(names.map(|it| (it, about.clone().unwrap_or_default())));
    }
    words.insert(path, next);
}

fn names(next: &[(String, String)]) -> String {
    let names: Vec<&str> = next.iter().map(|(name, _)| name.as_str()).collect();
    names.join(" ")
}

/// The paths that a shell compares the words so far with.
fn paths(words: &Words) -> Vec<String> {
    let paths = words.keys().filter(|it| it.contains(' '));
    paths.map(|it| format!("\"{it}\"")).collect()
}

fn cases(words: &Words, line: impl Fn(&str, &str) -> String) -> String {
    let lines = words.iter();
    lines.map(|(path, next)| line(path, &names(next))).collect()
}

fn bash(words: &Words) -> String {
    let next = cases(words, |path, names| {
        format!("        \"{path}\") next=\"{names}\" ;;\n")
    });
    format!(
        r#"# Completion for kustomize in bash: source <(kustomize completion bash)
_kustomize() {{
    local at=kustomize next="" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$at ${{COMP_WORDS[i]}}" in
        {}) at="$at ${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$at" in
{next}    esac
    COMPREPLY=($(compgen -W "$next" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _kustomize kustomize
"#,
        paths(words).join(" | ")
    )
}

fn zsh(words: &Words) -> String {
    let next = cases(words, |path, names| {
        format!("        (\"{path}\") next=({names}) ;;\n")
    });
    format!(
        r#"#compdef kustomize
# Completion for kustomize in zsh: source <(kustomize completion zsh)
_kustomize() {{
    local at=kustomize word
    local -a next
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        case "$at $word" in
        ({}) at="$at $word" ;;
        esac
    done
    case "$at" in
{next}    esac
    compadd -- $next
    _files
}}
if [ "$funcstack[1]" = "_kustomize" ]; then
    _kustomize "$@"
else
    compdef _kustomize kustomize
fi
"#,
        paths(words).join(" | ")
    )
}

fn fish(words: &Words) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let mut out = format!(
        r#"# Completion for kustomize in fish: kustomize completion fish | source
function __kustomize_at
    set -l at kustomize
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word" {}
            set at "$at $word"
        end
    end
    echo $at
end
"#,
        paths(words).join(" ")
    );
    for (path, next) in words {
        let condition = quoted(&format!("test (__kustomize_at) = \"{path}\""));
        for (name, about) in next {
            let what = match name.strip_prefix("--") {
                Some(long) => format!("-l {long}"),
                None => match name.strip_prefix('-') {
                    Some(short) => format!("-s {short}"),
                    None => format!("-a {name}"),
                },
            };
            let about = quoted(about.lines().next().unwrap_or_default());
            _ = writeln!(
                out,
                "complete -c kustomize -n {condition} {what} -d {about}"
            );
        }
    }
    out
}

fn powershell(words: &Words) -> String {
    let next = cases(words, |path, names| {
        format!("        '{path}' = '{names}'\n")
    });
    format!(
        r#"# Completion for kustomize in PowerShell: kustomize completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'kustomize' -ScriptBlock {{
    param($word, $ast, $position)
    $next = @{{
{next}    }}
    $at = 'kustomize'
    foreach ($element in $ast.CommandElements | Select-Object -Skip 1) {{
        if ($next.ContainsKey("$at $element")) {{ $at = "$at $element" }}
    }}
    $next[$at] -split ' ' | Where-Object {{ $_ -like "$word*" }} | ForEach-Object {{
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }}
}}
"#
    )
}
