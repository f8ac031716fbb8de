//! Certificates: made, renewed, signed for others, and read back as users.
#![allow(
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tables of cases"
)]

use std::net::IpAddr;

use auth::pki::{
    CertificateAuthority, CertifiedKey, Files, PkiError, SIGNERS, ServingNames, approved, ensure,
    sign,
};
use auth::serviceaccount::{PublicKey, SigningKey};
use auth::x509::{self, CertificateError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json::{Value, json};
use rcgen::{CertificateParams, CustomExtension, DnType, KeyPair, SanType};
use x509_parser::certificate::X509Certificate;
use x509_parser::parse_x509_certificate;

const RSA: &str = include_str!("token/rsa-pkcs1.pem");
const NOW: i64 = 1_800_000_000;
const DAY: i64 = 24 * 60 * 60;

fn der(pem: &str) -> Vec<u8> {
    pem::parse(pem).unwrap().into_contents()
}

fn authority() -> CertifiedKey {
    CertificateAuthority::generate("kubernetes", NOW).unwrap()
}

fn check(certificate: &[u8], inspect: impl Fn(&X509Certificate)) {
    let (rest, certificate) = parse_x509_certificate(certificate).unwrap();
    assert!(rest.is_empty());
    inspect(&certificate);
}

#[test]
fn makes_all_and_leaves_it_alone() {
    let mut files = Files::default();
    let names = ServingNames::new("cluster.local", &["10.96.0.1", "host.example", "127.0.0.1"]);
    let changed = ensure(&mut files, &names, NOW).unwrap();
    assert_eq!(
        changed,
        [
            "authority",
            "serving",
            "admin",
            "front proxy authority",
            "service account key"
        ]
    );
    assert_eq!(
        ensure(&mut files, &names, NOW + 300 * DAY).unwrap(),
        [""; 0]
    );

    let ca = der(&files.authority.clone().unwrap().certificate);
    let (_, ca) = parse_x509_certificate(&ca).unwrap();
    assert!(ca.is_ca() && ca.verify_signature(None).is_ok());
    assert_eq!(ca.validity().not_after.timestamp(), NOW + 3650 * DAY);
    check(&der(&files.serving.clone().unwrap().certificate), |it| {
        assert!(it.verify_signature(Some(ca.public_key())).is_ok() && !it.is_ca());
        assert_eq!(it.subject().to_string(), "CN=kube-apiserver");
        let usage = it.extended_key_usage().unwrap().unwrap().value;
        assert!(usage.server_auth && !usage.client_auth);
        let names = &it
            .subject_alternative_name()
            .unwrap()
            .unwrap()
            .value
            .general_names;
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), 9, "{names:?}");
        let validity = it.validity();
        assert_eq!(validity.not_before.timestamp(), NOW - 300);
        assert_eq!(validity.not_after.timestamp(), NOW + 365 * DAY);
    });
    let admin = x509::user(&der(&files.admin.unwrap().certificate), NOW)
        .unwrap()
        .unwrap();
    assert_eq!(admin.name, "kubernetes-admin");
    assert_eq!(admin.groups, ["system:masters"]);
}

/// kube-apiserver reads keys that verify with `keyutil.ParsePublicKeysPEM`, which takes no ECDSA key in PKCS#8.
#[test]
fn the_key_of_tokens_is_one_that_kube_apiserver_takes() {
    let mut files = Files::default();
    let names = ServingNames::new("cluster.local", &[]);
    ensure(&mut files, &names, NOW).unwrap();
    let made = files.service_account_key.clone().unwrap();
    assert!(
        made.starts_with("-----BEGIN EC PRIVATE KEY-----\n"),
        "{made}"
    );
    let id = |pem: &str| {
        let key = SigningKey::from_pem(pem.as_bytes()).unwrap();
        let public = PublicKey::all_from_pem(key.public().to_pem().as_bytes()).unwrap();
        assert_eq!(public[0].id, key.public().id);
        public[0].id.clone()
    };
    id(&made);
    // A file of an earlier version is the same key in another form, once.
    let old = KeyPair::generate().unwrap().serialize_pem();
    files.service_account_key = Some(old.clone());
    let changed = ensure(&mut files, &names, NOW).unwrap();
    assert_eq!(changed, ["form of the service account key"]);
    let new = files.service_account_key.clone().unwrap();
    assert!(new.starts_with("-----BEGIN EC PRIVATE KEY-----\n"), "{new}");
    assert_eq!(id(&old), id(&new));
    assert_eq!(ensure(&mut files, &names, NOW).unwrap(), [""; 0]);
    // What somebody else put there stays: kube-apiserver takes RSA in PKCS#8, and we cannot read the last.
    for other in [RSA, "nonsense", &format!("{old}{old}")] {
        files.service_account_key = Some(other.to_owned());
        assert_eq!(ensure(&mut files, &names, NOW).unwrap(), [""; 0]);
    }
}

#[test]
fn renews_what_is_not_good() {
    let plain = ServingNames::new("cluster.local", &[]);
    let more = |name| ServingNames::new("cluster.local", &[name]);
    let mut fresh = Files::default();
    ensure(&mut fresh, &plain, NOW).unwrap();
    let with = |change: fn(&mut Files)| {
        let mut files = fresh.clone();
        change(&mut files);
        files
    };
    let cases = [
        (with(|_| {}), plain.clone(), NOW, vec![]),
        (with(|_| {}), more("x.example"), NOW, vec!["serving"]),
        (with(|_| {}), more("10.0.0.1"), NOW, vec!["serving"]),
        (with(|_| {}), plain.clone(), NOW + 334 * DAY, vec![]),
        (
            with(|_| {}),
            plain.clone(),
            NOW + 336 * DAY,
            vec!["serving", "admin"],
        ),
        (
            with(|it| it.admin = None),
            plain.clone(),
            NOW,
            vec!["admin"],
        ),
        (
            with(|it| it.serving = it.admin.clone()),
            plain.clone(),
            NOW,
            vec!["serving"],
        ),
        (
            with(|it| it.admin.as_mut().unwrap().key = it.serving.clone().unwrap().key),
            plain.clone(),
            NOW,
            vec!["admin"],
        ),
        (
            with(|it| it.admin.as_mut().unwrap().certificate.clear()),
            plain.clone(),
            NOW,
            vec!["admin"],
        ),
        (
            with(|it| it.authority = Some(authority())),
            plain.clone(),
            NOW,
            vec!["serving", "admin"],
        ),
    ];
    for (mut files, names, now, expected) in cases {
        assert_eq!(ensure(&mut files, &names, now).unwrap(), expected);
        assert_eq!(ensure(&mut files, &names, now).unwrap(), [""; 0]);
    }
    let mut broken = with(|it| it.authority.as_mut().unwrap().certificate.clear());
    assert_eq!(
        ensure(&mut broken, &plain, NOW).unwrap_err(),
        PkiError::Certificate,
        "never replaced"
    );
    let mut other = with(|it| it.authority.as_mut().unwrap().key = authority().key);
    assert_eq!(
        ensure(&mut other, &plain, NOW).unwrap_err(),
        PkiError::OtherKey
    );
}

#[test]
fn users_of_certificates() {
    let ca = CertificateAuthority::from_pem(&authority()).unwrap();
    let joe = ca.client("joe", &["a", "b", "ü"], NOW).unwrap();
    let user = |now| x509::user(&der(&joe.certificate), now);
    let found = user(NOW).unwrap().unwrap();
    assert_eq!((&*found.name, &*found.uid), ("joe", ""));
    assert_eq!(found.groups, ["a", "b", "ü"]);
    let id = &found.extra["authentication.kubernetes.io/credential-id"][0];
    assert!(id.starts_with("X509SHA256=") && id.len() == 75, "{id}");
    assert_eq!(user(NOW - 301), Err(CertificateError::NotNow));
    assert_eq!(user(NOW + 366 * DAY), Err(CertificateError::NotNow));

    let server = ca.serving("s", &["s".to_owned()], &[], NOW).unwrap();
    assert_eq!(
        x509::user(&der(&server.certificate), NOW),
        Err(CertificateError::Usage)
    );
    let nobody = ca.client("", &["a"], NOW).unwrap();
    assert_eq!(x509::user(&der(&nobody.certificate), NOW), Ok(None));
    let mut trailing = der(&joe.certificate);
    trailing.push(0);
    assert_eq!(x509::user(&trailing, NOW), Err(CertificateError::Malformed));
    assert_eq!(
        x509::user(b"garbage", NOW),
        Err(CertificateError::Malformed)
    );
}

/// The attribute for the UID, written by another hand.
#[test]
fn uid_of_a_certificate() {
    let with = |uid: &str| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "joe");
        let kind = DnType::CustomDnType(vec![1, 3, 6, 1, 4, 1, 57683, 2]);
        params.distinguished_name.push(kind, uid);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        x509::user(certificate.der(), NOW)
    };
    assert_eq!(with("some-uid").unwrap().unwrap().uid, "some-uid");
    assert_eq!(with(""), Err(CertificateError::EmptyUid));
}

struct Asks {
    name: &'static str,
    organization: &'static str,
    sans: Vec<SanType>,
}

fn request(asks: &Asks) -> String {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::OrganizationName, asks.organization);
    params
        .distinguished_name
        .push(DnType::CommonName, asks.name);
    params.subject_alt_names.clone_from(&asks.sans);
    // What a client asks for in its own extensions does not count.
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign];
    params
        .custom_extensions
        .push(CustomExtension::from_oid_content(&[1, 2, 3], vec![5, 0]));
    let request = params
        .serialize_request(&KeyPair::generate().unwrap())
        .unwrap();
    request.pem().unwrap()
}

fn csr(signer: &str, usages: &[&str], pem: &str) -> Value {
    let usages: Value = usages.iter().copied().collect();
    json!({"spec": {"signerName": signer, "usages": usages, "request": (STANDARD.encode(pem))}})
}

#[test]
fn signers() {
    let ca = CertificateAuthority::from_pem(&authority()).unwrap();
    let dns = || SanType::DnsName("n".try_into().unwrap());
    let ip = || SanType::IpAddress(IpAddr::from([10, 0, 0, 1]));
    let email = || SanType::Rfc822Name("a@b".try_into().unwrap());
    let uri = || SanType::URI("spiffe://x".try_into().unwrap());
    let node = |sans| Asks {
        name: "system:node:n",
        organization: "system:nodes",
        sans,
    };
    let joe = |sans| Asks {
        name: "joe",
        organization: "dev",
        sans,
    };
    let ghost = |sans| Asks {
        name: "joe",
        organization: "system:nodes",
        sans,
    };
    let [client, kubelet, serving, legacy] = SIGNERS;
    let (ds, ke, ca_, sa) = (
        "digital signature",
        "key encipherment",
        "client auth",
        "server auth",
    );
    let cases: [(&str, Asks, &[&str], Result<(), &str>); 22] = [
        (client, joe(vec![]), &[ca_], Ok(())),
        (client, joe(vec![dns()]), &[ds, ke, ca_], Ok(())),
        (
            client,
            joe(vec![]),
            &[ca_, sa],
            Err("invalid usage for client certificate: server auth"),
        ),
        (
            client,
            joe(vec![]),
            &[ds],
            Err("missing required usage for client certificate: client auth"),
        ),
        (kubelet, node(vec![]), &[ds, ke, ca_], Ok(())),
        (kubelet, node(vec![]), &[ca_, ds], Ok(())),
        (
            kubelet,
            node(vec![]),
            &[ca_],
            Err("usages did not match [client auth digital signature key encipherment]"),
        ),
        (
            kubelet,
            joe(vec![]),
            &[ds, ca_],
            Err("subject organization is not system:nodes"),
        ),
        (
            kubelet,
            ghost(vec![]),
            &[ds, ca_],
            Err("subject common name does not begin with system:node:"),
        ),
        (
            kubelet,
            node(vec![dns()]),
            &[ds, ca_],
            Err("DNS subjectAltNames are not allowed"),
        ),
        (
            kubelet,
            node(vec![ip()]),
            &[ds, ca_],
            Err("IP subjectAltNames are not allowed"),
        ),
        (
            kubelet,
            node(vec![email()]),
            &[ds, ca_],
            Err("Email subjectAltNames are not allowed"),
        ),
        (
            kubelet,
            node(vec![uri()]),
            &[ds, ca_],
            Err("URI subjectAltNames are not allowed"),
        ),
        (serving, node(vec![dns(), ip()]), &[ds, ke, sa], Ok(())),
        (serving, node(vec![ip()]), &[ds, sa], Ok(())),
        (
            serving,
            node(vec![]),
            &[ds, sa],
            Err("DNS or IP subjectAltName is required"),
        ),
        (
            serving,
            node(vec![dns(), email()]),
            &[ds, sa],
            Err("Email subjectAltNames are not allowed"),
        ),
        (
            serving,
            node(vec![dns(), uri()]),
            &[ds, sa],
            Err("URI subjectAltNames are not allowed"),
        ),
        (
            serving,
            node(vec![dns()]),
            &[ds, ca_],
            Err("usages did not match [digital signature key encipherment server auth]"),
        ),
        (
            serving,
            ghost(vec![dns()]),
            &[ds, sa],
            Err("subject common name does not begin with system:node:"),
        ),
        (
            legacy,
            joe(vec![email(), uri()]),
            &["cert sign", "any"],
            Ok(()),
        ),
        (
            legacy,
            joe(vec![]),
            &["world domination"],
            Err("unrecognized usage values: [\"world domination\"]"),
        ),
    ];
    for (signer, asks, usages, expected) in cases {
        let found = sign(&ca, &csr(signer, usages, &request(&asks)), NOW).unwrap();
        assert_eq!(
            found.as_ref().map(|_| ()).map_err(ToString::to_string),
            expected.map_err(str::to_owned),
            "{signer} {usages:?}"
        );
        let Ok(found) = found else { continue };
        check(&der(&found), |it| {
            assert!(!it.is_ca(), "asking to be an authority does not help");
            assert_eq!(
                it.subject().to_string(),
                format!("O={}, CN={}", asks.organization, asks.name)
            );
            let names = it.subject_alternative_name().unwrap();
            assert_eq!(
                names.map_or(0, |it| it.value.general_names.len()),
                asks.sans.len()
            );
            assert!(
                it.extensions()
                    .iter()
                    .all(|it| it.oid.to_id_string().starts_with("2.5.29."))
            );
        });
    }
    let other = csr("example.com/mine", &["client auth"], &request(&joe(vec![])));
    assert_eq!(sign(&ca, &other, NOW), None);
}

#[test]
fn durations() {
    let ca = CertificateAuthority::from_pem(&authority()).unwrap();
    let pem = request(&Asks {
        name: "joe",
        organization: "dev",
        sans: vec![],
    });
    let hour = 3600;
    let end_of_ca = NOW + 3650 * DAY;
    let cases = [
        (None, NOW, NOW + 365 * DAY - 300),
        (Some(600), NOW, NOW + 600),
        (Some(1), NOW, NOW + 600),
        (Some(7 * hour), NOW, NOW + 7 * hour),
        (Some(8 * hour), NOW, NOW + 8 * hour - 300),
        (Some(9999 * DAY), NOW, NOW + 365 * DAY - 300),
        (None, end_of_ca - 10, end_of_ca),
    ];
    for (seconds, now, until) in cases {
        let mut csr = csr(SIGNERS[0], &["client auth"], &pem);
        if let Some(seconds) = seconds {
            csr.get_mut("spec")
                .unwrap()
                .as_object_mut()
                .unwrap()
                .insert("expirationSeconds", seconds);
        }
        let found = sign(&ca, &csr, now).unwrap().unwrap();
        check(&der(&found), |it| {
            assert_eq!(it.validity().not_before.timestamp(), now - 300);
            assert_eq!(it.validity().not_after.timestamp(), until);
        });
    }
    let late = sign(&ca, &csr(SIGNERS[0], &["client auth"], &pem), end_of_ca).unwrap();
    assert!(matches!(late, Err(PkiError::Refused(_))));
}

#[test]
fn forged_requests() {
    let pem = request(&Asks {
        name: "joe",
        organization: "dev",
        sans: vec![],
    });
    let mut changed = der(&pem);
    let at = changed.windows(3).position(|it| it == b"joe").unwrap();
    changed[at] = b'p';
    let changed = pem::encode(&pem::Pem::new("CERTIFICATE REQUEST", changed));
    let mut longer = der(&pem);
    longer.push(0);
    let longer = pem::encode(&pem::Pem::new("CERTIFICATE REQUEST", longer));
    let renamed = pem.replace("CERTIFICATE REQUEST", "CERTIFICATE");
    let cases = [
        (pem, None),
        (changed, Some(PkiError::RequestSignature)),
        (longer, Some(PkiError::Request)),
        (renamed, Some(PkiError::NoRequest)),
        ("garbage".to_owned(), Some(PkiError::NoRequest)),
        (String::new(), Some(PkiError::NoRequest)),
    ];
    let ca = CertificateAuthority::from_pem(&authority()).unwrap();
    for (pem, error) in cases {
        let csr = csr(SIGNERS[0], &["client auth"], &pem);
        assert_eq!(sign(&ca, &csr, NOW).unwrap().err(), error);
    }
}

#[test]
fn which_requests_wait() {
    let with = |conditions: &[(&str, &str)], certificate: &str| {
        let conditions: Value = conditions
            .iter()
            .map(|(kind, status)| json!({"type": (*kind), "status": (*status)}))
            .collect();
        approved(&json!({"status": {"conditions": conditions, "certificate": certificate}}))
    };
    assert!(with(&[("Approved", "True")], ""));
    assert!(!with(&[], ""));
    assert!(!with(&[("Approved", "True"), ("Denied", "True")], ""));
    assert!(!with(&[("Approved", "True"), ("Failed", "True")], ""));
    assert!(!with(&[("Approved", "True")], "LS0t"));
}
