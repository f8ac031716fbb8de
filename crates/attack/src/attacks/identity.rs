//! Claims to be somebody else.

mod webhook;

use std::io;
use std::time::Duration;

use json::json;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::crowd;
use crate::client::Connection;
use crate::field::{Field, MAPS};
use crate::{Attack, Bounds, USUAL, Who};

pub(super) const ALL: &[Attack] = &[
    Attack {
        name: "untrusted-certificate",
        about: "a certificate of an authority that nobody knows, alone and beside other credentials",
        who: Who::Anonymous,
        bounds: USUAL,
        run: untrusted_certificate,
    },
    Attack {
        name: "impersonation",
        about: "headers that say who asks, from those who may not say so",
        who: Who::NoRole,
        bounds: USUAL,
        run: impersonation,
    },
    Attack {
        name: "token-flood",
        about: "thousands of tokens that are none: random, long, nearly right JWTs",
        who: Who::Anonymous,
        bounds: Bounds {
            cpu: Duration::from_secs(15),
            ..USUAL
        },
        run: token_flood,
    },
    Attack {
        name: "webhook-sets-uid",
        about: "a mutating webhook that sets uid, creationTimestamp and deletionTimestamp of a new object",
        who: Who::Operator,
        bounds: USUAL,
        run: webhook::sets_uid,
    },
];

fn untrusted_certificate(field: &mut Field) -> io::Result<()> {
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let mut params = CertificateParams::default();
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, "admin");
    params
        .distinguished_name
        .push(rcgen::DnType::OrganizationName, "system:masters");
    let certificate = params.self_signed(&key).map_err(io::Error::other)?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let client = field
        .anonymous()
        .with_certificate(vec![certificate.der().clone()], key)?;
    for headers in [
        "",
        "Authorization: Basic YWRtaW46YWRtaW4=\r\n",
        "Authorization: Bearer none\r\n",
        "Authorization: Bearer\r\n",
        "Authorization: Negotiate x\r\n",
    ] {
        for path in ["/api/v1/namespaces", MAPS, "/version"] {
            let answer = Connection::new(client.clone()).send_with("GET", path, headers, b"");
            field.expect(&format!("{} {path}", headers.trim()), answer, &[401]);
        }
    }
    Ok(())
}

fn impersonation(field: &mut Field) -> io::Result<()> {
    let (mallory, alice, nobody) = (field.mallory(), field.alice(), field.anonymous());
    for headers in [
        "Impersonate-User: admin\r\nImpersonate-Group: system:masters\r\n",
        "Impersonate-User: system:admin\r\n",
        "Impersonate-Group: system:masters\r\n",
        "Impersonate-Uid: 1\r\n",
        "Impersonate-Extra-x: 1\r\n",
        "Impersonate-User: mallory\r\nImpersonate-User: admin\r\n",
        "impersonate-user: system:kube-controller-manager\r\n",
        "Impersonate-User: system:serviceaccount:kube-system:default\r\n",
        "X-Remote-User: admin\r\nX-Remote-Group: system:masters\r\n",
        "X-Remote-User: system:admin\r\nX-Remote-Extra-Scopes: x\r\n",
        "X-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\n",
    ] {
        for client in [&mallory, &alice, &nobody] {
            let mut connection = Connection::new(client.clone());
            let answer = connection.send_with("GET", "/api/v1/secrets", headers, b"");
            field.expect(headers.trim(), answer, &[400, 401, 403, 500]);
        }
    }
    Ok(())
}

fn token_flood(field: &mut Field) -> io::Result<()> {
    let nobody = field.anonymous();
    let header = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ";
    let claims =
        "eyJpc3MiOiJodHRwczovL2t1YmVybmV0ZXMuZGVmYXVsdC5zdmMuY2x1c3Rlci5sb2NhbCIsInN1YiI6ImEifQ";
    let none = "eyJhbGciOiJub25lIn0";
    let each = field.of(600, 40);
    let answers = crowd(8, |thread| {
        let mut connection = Connection::new(nobody.clone());
        let one = |number: usize| {
            let token = match number % 6 {
                0 => format!("token-{thread}-{number}"),
                1 => format!("{header}.{claims}.{}", "A".repeat(300 + number)),
                2 => format!("{none}.{claims}."),
                3 => "x".repeat(20_000 + number),
                4 => format!("{header}.{}.x", "e".repeat(number)),
                _ => format!("abcdef.0123456789{:06}", number % 1_000_000),
            };
            let headers = format!("Authorization: Bearer {token}\r\n");
            connection.send_with("GET", "/api/v1/namespaces", &headers, b"")
        };
        (0..each).map(one).collect::<Vec<_>>()
    });
    for answer in answers.into_iter().flatten() {
        field.expect("a token that is none", answer, &[401]);
    }
    let map = json!({"metadata": {"generateName": "after-"}});
    let answer = field.alice().post(MAPS, &map);
    field.expect("a right token", answer, &[201]);
    Ok(())
}
