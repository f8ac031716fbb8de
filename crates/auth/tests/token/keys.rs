//! Keys in all their clothes.

use auth::serviceaccount::{Algorithm, KeyError, PublicKey, SigningKey};

use crate::support::{EC, RSA};

/// What `openssl pkey -pubout -outform DER | openssl dgst -sha256 -binary | basenc --base64url` says.
const RSA_ID: &str = "6TeakVu3UJl_OYLABT2g_0dLvdNiycRthpgBf_CyW-U";
const EC_ID: &str = "A5N870H9yMCkFrcjt7ZM91mr3N_3P03VoyIkV5F4Cgk";

#[test]
fn ids_are_hashes_of_the_public_key() {
    let public = include_bytes!("rsa-public-pkcs1.pem");
    let found = |pem| PublicKey::all_from_pem(pem).unwrap().remove(0);
    let cases = [
        (found(RSA), RSA_ID, Algorithm::Rs256),
        (found(public), RSA_ID, Algorithm::Rs256),
        (
            found(found(RSA).to_pem().as_bytes()),
            RSA_ID,
            Algorithm::Rs256,
        ),
        (found(EC), EC_ID, Algorithm::Es256),
        (
            found(found(EC).to_pem().as_bytes()),
            EC_ID,
            Algorithm::Es256,
        ),
    ];
    for (key, id, algorithm) in cases {
        assert_eq!((&*key.id, key.algorithm), (id, algorithm));
    }
    let both = [RSA, EC].concat();
    assert_eq!(PublicKey::all_from_pem(&both).unwrap().len(), 2);
}

#[test]
fn a_new_key_signs() {
    let pem = SigningKey::generate_pem().unwrap();
    assert!(pem.starts_with("-----BEGIN EC PRIVATE KEY-----"));
    let key = SigningKey::from_pem(pem.as_bytes()).unwrap();
    assert_eq!(key.public().algorithm, Algorithm::Es256);
    assert!(!format!("{key:?}").contains("PRIVATE"));
}

#[test]
fn what_is_no_key_is_refused() {
    let public = SigningKey::from_pem(EC).unwrap().public().to_pem();
    for text in [
        "",
        "garbage",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        &public,
    ] {
        assert_eq!(
            SigningKey::from_pem(text.as_bytes()).unwrap_err(),
            KeyError::NoPrivateKey
        );
    }
    for text in [
        "",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    ] {
        assert_eq!(
            PublicKey::all_from_pem(text.as_bytes()).unwrap_err(),
            KeyError::NoPublicKey
        );
    }
}
