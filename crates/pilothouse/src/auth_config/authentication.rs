//! `AuthenticationConfiguration`

use std::collections::BTreeSet;

use cel::kubernetes::{claims_environment, user_environment};
use cel::{Env, Expression, Type};
use json::Value;
use meta::field::Error;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::{Part, base, compile, items};

/// In upstream's words. `issuers` are those of service account tokens.
pub(super) fn validate(config: &Value, issuers: &[String]) -> Vec<Error> {
    let mut errors = Vec::new();
    let all = items(config, "jwt");
    if all.len() > 64 {
        return vec![Error::too_many("jwt", Some(all.len()), 64)];
    }
    let (mut urls, mut discovery) = (BTreeSet::new(), BTreeSet::new());
    let known = [
        "issuer",
        "claimValidationRules",
        "claimMappings",
        "userValidationRules",
    ];
    for (index, it) in all.iter().enumerate() {
        let it = Part::new(it, format!("jwt[{index}]"), &known, &mut errors);
        let known = [
            "url",
            "discoveryURL",
            "certificateAuthority",
            "audiences",
            "audienceMatchPolicy",
            "egressSelectorType",
        ];
        let issuer = it.child("issuer", &known, &mut errors);
        self::issuer(&issuer, issuers, &mut errors);
        let mut emails = Emails::default();
        claim_rules(&it, &mut emails, &mut errors);
        mappings(&it, &mut emails, &mut errors);
        user_rules(&it, &mut errors);
        if !urls.insert(issuer.text("url")) {
            errors.push(Error::duplicate(issuer.at("url"), issuer.text("url")));
        }
        let url = issuer.text("discoveryURL");
        if !url.is_empty() && !discovery.insert(url) {
            errors.push(Error::duplicate(issuer.at("discoveryURL"), url));
        }
    }
    let anonymous = config.get("anonymous").unwrap_or(&Value::Null);
    let anonymous = Part::new(
        anonymous,
        "anonymous".to_owned(),
        &["enabled", "conditions"],
        &mut errors,
    );
    let conditions = anonymous.value.get("conditions");
    if !is_enabled(anonymous.value) && !anonymous.items("conditions").is_empty() {
        let why = "enabled should be set to true when conditions are defined";
        let shown = conditions.cloned().unwrap_or_default();
        errors.push(Error::invalid("anonymous.conditions", shown, why));
    }
    errors
}

fn is_enabled(anonymous: &Value) -> bool {
    anonymous.get("enabled").and_then(Value::as_bool) == Some(true)
}

fn issuer(it: &Part<'_>, issuers: &[String], errors: &mut Vec<Error>) {
    let (own, discovery) = (it.text("url"), it.text("discoveryURL"));
    if own.is_empty() {
        errors.push(Error::required(it.at("url"), ""));
    } else {
        url(own, issuers, &it.at("url"), errors);
    }
    if !discovery.is_empty() {
        let at = it.at("discoveryURL");
        if !own.is_empty() && own.trim_end_matches('/') == discovery.trim_end_matches('/') {
            errors.push(Error::invalid(
                &at,
                discovery,
                "discoveryURL must be different from URL",
            ));
        }
        url(discovery, &[], &at, errors);
    }
    let audiences = it.items("audiences");
    if audiences.is_empty() {
        let at = it.at("audiences");
        errors.push(Error::required(
            &at,
            format!("at least one {at} is required"),
        ));
    } else {
        let mut seen = BTreeSet::new();
        for (index, audience) in audiences.iter().enumerate() {
            let (at, audience) = (
                it.at(&format!("audiences[{index}]")),
                audience.as_str().unwrap_or_default(),
            );
            if audience.is_empty() {
                errors.push(Error::required(&at, ""));
            }
            if !seen.insert(audience) {
                errors.push(Error::duplicate(&at, audience));
            }
        }
        let policy = it.text("audienceMatchPolicy");
        let at = it.at("audienceMatchPolicy");
        if audiences.len() > 1 && policy != "MatchAny" {
            let why = "audienceMatchPolicy must be MatchAny for multiple audiences";
            errors.push(Error::invalid(at, policy, why));
        } else if audiences.len() == 1 && !matches!(policy, "" | "MatchAny") {
            let why = "audienceMatchPolicy must be empty or MatchAny for single audience";
            errors.push(Error::invalid(at, policy, why));
        }
    }
    let authority = it.text("certificateAuthority");
    if !authority.is_empty() {
        let found: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(authority.as_bytes()).collect();
        if !found.is_ok_and(|it| !it.is_empty()) {
            let why = "data does not contain any valid RSA or ECDSA certificates";
            errors.push(Error::invalid(
                it.at("certificateAuthority"),
                "<omitted>",
                why,
            ));
        }
    }
    let selector = it.text("egressSelectorType");
    if !matches!(selector, "" | "controlplane" | "cluster") {
        let why = "egress selector must be either controlplane or cluster";
        errors.push(Error::invalid(it.at("egressSelectorType"), selector, why));
    }
}

fn url(url: &str, issuers: &[String], at: &str, errors: &mut Vec<Error>) {
    if issuers.iter().any(|it| it == url) {
        let mut all: Vec<&str> = issuers.iter().map(String::as_str).collect();
        all.sort_unstable();
        let why = format!(
            "URL must not overlap with disallowed issuers: [{}]",
            all.join(" ")
        );
        errors.push(Error::invalid(at, url, why));
    }
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once("://").unwrap_or(("", rest));
    let authority = rest.split('/').next().unwrap_or_default();
    let mut wrong = |is_wrong: bool, why: &str| {
        if is_wrong {
            errors.push(Error::invalid(at, url, why));
        }
    };
    wrong(
        !scheme.eq_ignore_ascii_case("https"),
        "URL scheme must be https",
    );
    wrong(
        authority.contains('@'),
        "URL must not contain a username or password",
    );
    wrong(!query.is_empty(), "URL must not contain a query");
    wrong(!fragment.is_empty(), "URL must not contain a fragment");
}

/// Who reads the address of a user must read whether it was verified.
#[derive(Default)]
struct Emails {
    used: bool,
    verified: bool,
}

impl Emails {
    fn look(&mut self, expression: &Expression) {
        self.verified |= expression.selects("claims", "email_verified");
    }
}

fn claims(
    env: &Env,
    text: &str,
    returns: &Type,
    at: String,
    errors: &mut Vec<Error>,
) -> Option<Expression> {
    let compiled = compile(env, text, returns, |_| {
        format!("must evaluate to {returns}")
    });
    compiled
        .map_err(|error| errors.push(error.at(at, text)))
        .ok()
}

fn claim_rules(it: &Part<'_>, emails: &mut Emails, errors: &mut Vec<Error>) {
    let env = claims_environment(base());
    let (mut names, mut texts) = (BTreeSet::new(), BTreeSet::new());
    let known = ["claim", "requiredValue", "expression", "message"];
    for (index, rule) in it.items("claimValidationRules").iter().enumerate() {
        let at = it.at(&format!("claimValidationRules[{index}]"));
        let rule = Part::new(rule, at, &known, errors);
        let (claim, text) = (rule.text("claim"), rule.text("expression"));
        match (claim, text) {
            ("", "") => errors.push(Error::required(
                &rule.path,
                "claim or expression is required",
            )),
            ("", text) => {
                let value = rule.text("requiredValue");
                if !value.is_empty() {
                    let why = "may not be specified when expression is set";
                    errors.push(Error::invalid(rule.at("requiredValue"), value, why));
                }
                let at = rule.at("expression");
                if !texts.insert(text) {
                    errors.push(Error::duplicate(at, text));
                } else if let Some(compiled) = claims(&env, text, &Type::Bool, at, errors) {
                    emails.look(&compiled);
                }
            }
            (claim, "") => {
                let message = rule.text("message");
                if !message.is_empty() {
                    let why = "may not be specified when claim is set";
                    errors.push(Error::invalid(rule.at("message"), message, why));
                }
                if !names.insert(claim) {
                    errors.push(Error::duplicate(rule.at("claim"), claim));
                }
            }
            (claim, _) => {
                errors.push(Error::invalid(
                    &rule.path,
                    claim,
                    "claim and expression can't both be set",
                ));
            }
        }
    }
}

fn mappings(it: &Part<'_>, emails: &mut Emails, errors: &mut Vec<Error>) {
    let env = claims_environment(base());
    let all = it.child(
        "claimMappings",
        &["username", "groups", "uid", "extra"],
        errors,
    );
    let known = ["claim", "prefix", "expression"];
    for (name, is_required) in [("username", true), ("groups", false)] {
        let mapping = all.child(name, &known, errors);
        let (claim, text) = (mapping.text("claim"), mapping.text("expression"));
        let prefix = mapping.value.get("prefix").filter(|it| !it.is_null());
        match (claim, text) {
            ("", "") if is_required => {
                errors.push(Error::required(
                    &mapping.path,
                    "claim or expression is required",
                ));
            }
            ("", "") => {}
            ("", text) => {
                if let Some(prefix) = prefix {
                    let why = "may not be specified when expression is set";
                    errors.push(Error::invalid(mapping.at("prefix"), prefix.clone(), why));
                }
                let at = mapping.at("expression");
                let compiled = claims(&env, text, &Type::Any, at, errors);
                if let Some(compiled) = compiled.filter(|_| name == "username" && prefix.is_none())
                {
                    emails.used |= compiled.selects("claims", "email");
                    emails.look(&compiled);
                }
            }
            (_, "") if prefix.is_none() => {
                let why = "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
                errors.push(Error::required(mapping.at("prefix"), why));
            }
            (_, "") => {}
            _ => errors.push(Error::invalid(
                &mapping.path,
                "",
                "claim and expression can't both be set",
            )),
        }
    }
    let uid = all.child("uid", &["claim", "expression"], errors);
    match (uid.text("claim"), uid.text("expression")) {
        (_, "") => {}
        ("", text) => {
            claims(&env, text, &Type::Any, uid.at("expression"), errors);
        }
        _ => errors.push(Error::invalid(
            &uid.path,
            "",
            "claim and expression can't both be set",
        )),
    }
    extra(&all, &env, emails, errors);
    if emails.used && !emails.verified {
        let text = all
            .value
            .str_at(&["username", "expression"])
            .unwrap_or_default();
        let why = "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";
        errors.push(Error::invalid(all.at("username.expression"), text, why));
    }
}

fn extra(all: &Part<'_>, env: &Env, emails: &mut Emails, errors: &mut Vec<Error>) {
    let mut seen = BTreeSet::new();
    for (index, mapping) in all.items("extra").iter().enumerate() {
        let at = all.at(&format!("extra[{index}]"));
        let mapping = Part::new(mapping, at, &["key", "valueExpression"], errors);
        let (key, at) = (mapping.text("key"), mapping.at("key"));
        domain_prefixed(key, &at, errors);
        if key != key.to_lowercase() {
            errors.push(Error::invalid(&at, key, "must be lowercase"));
        }
        let domain = key.split_once('/').map_or("", |it| it.0);
        let is_ours = |of: &str| domain == of || domain.ends_with(&format!(".{of}"));
        if is_ours("kubernetes.io") || is_ours("k8s.io") {
            let why = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
            errors.push(Error::invalid(&at, key, why));
        }
        if !seen.insert(key) {
            errors.push(Error::duplicate(&at, key));
            continue;
        }
        let (text, at) = (
            mapping.text("valueExpression"),
            mapping.at("valueExpression"),
        );
        if text.is_empty() {
            errors.push(Error::required(at, ""));
        } else if let Some(compiled) = claims(env, text, &Type::Any, at, errors) {
            emails.look(&compiled);
        }
    }
}

/// A key such as `example.org/foo`.
fn domain_prefixed(key: &str, at: &str, errors: &mut Vec<Error>) {
    if key.is_empty() {
        return errors.push(Error::required(at, ""));
    }
    let Some((host, path)) = key
        .split_once('/')
        .filter(|it| !it.0.is_empty() && !it.1.is_empty())
    else {
        let why = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        return errors.push(Error::invalid(at, key, why));
    };
    for why in meta::names::dns1123_subdomain(host) {
        errors.push(Error::invalid(at, host, why));
    }
    let is_fine = |it: char| it.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:@".contains(it);
    if !path.chars().all(is_fine) {
        errors.push(Error::invalid(at, path, "Invalid path"));
    }
}

fn user_rules(it: &Part<'_>, errors: &mut Vec<Error>) {
    let env = user_environment(base());
    let mut seen = BTreeSet::new();
    for (index, rule) in it.items("userValidationRules").iter().enumerate() {
        let at = it.at(&format!("userValidationRules[{index}]"));
        let rule = Part::new(rule, at, &["expression", "message"], errors);
        let (text, at) = (rule.text("expression"), rule.at("expression"));
        if text.is_empty() {
            errors.push(Error::required(at, ""));
        } else if !seen.insert(text) {
            errors.push(Error::duplicate(at, text));
        } else {
            claims(&env, text, &Type::Bool, at, errors);
        }
    }
}

/// Whether requests without credentials are taken, if it is said; why the rest cannot be done here.
pub(super) fn use_of(config: &Value) -> Result<Option<bool>, String> {
    if !items(config, "jwt").is_empty() {
        return Err(
            "tokens of other issuers (jwt) are not supported by this server; use --token-auth-file, client certificates or \
             service accounts"
                .to_owned(),
        );
    }
    let Some(anonymous) = config.get("anonymous").filter(|it| !it.is_null()) else {
        return Ok(None);
    };
    if !items(anonymous, "conditions").is_empty() {
        return Err("conditions of anonymous requests are not supported by this server".to_owned());
    }
    Ok(Some(is_enabled(anonymous)))
}
