use super::*;

#[test]
fn what_is_written_is_read() {
    let mut out = Message::default();
    out.number(1, 300);
    out.bytes(2, b"abc");
    out.double(3, 0.5);
    out.fixed32(4, 7);
    out.int(5, -1);
    let Message(out) = out;
    let all: Vec<_> = fields(&out).collect();
    let want = [
        (1, Field::Number(300)),
        (2, Field::Bytes(b"abc")),
        (3, Field::Fixed64(0.5_f64.to_bits())),
        (4, Field::Fixed32(7)),
        (5, Field::Number(u64::MAX)),
    ];
    assert_eq!(all, want);
    assert_eq!(bytes_at(&out, 2), Some(&b"abc"[..]));
    assert_eq!((number_at(&out, 5), number_at(&out, 9)), (u64::MAX, 0));
    assert_eq!(out[..3], [8, 0xac, 2]);
}

#[test]
fn messages_have_their_length_before_them_whatever_it_is() {
    for size in [0, 1, 127, 128, 20_000] {
        let value = vec![7; size];
        let (mut nested, mut inner, mut plain) =
            (Message::default(), Message::default(), Message::default());
        nested.message(3, |out| out.message(1, |out| out.bytes(2, &value)));
        inner.message(1, |out| out.bytes(2, &value));
        plain.bytes(3, &inner.0);
        assert_eq!(nested.0, plain.0);
        let inner = bytes_at(&nested.0, 3).and_then(|it| bytes_at(it, 1));
        assert_eq!(inner.and_then(|it| bytes_at(it, 2)), Some(&*value));
    }
}

#[test]
fn a_length_may_take_more_or_less_than_expected() {
    for expected in [1, 2, 3] {
        for size in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152] {
            let mut out = b"before".to_vec();
            put_message(&mut out, 2, expected, |out| out.resize(out.len() + size, 7));
            let mut want = b"before".to_vec();
            put_tag(&mut want, 2, LENGTH);
            put_varint(&mut want, size as u64);
            want.resize(want.len() + size, 7);
            assert!(out == want, "{expected} {size}");
        }
    }
}

#[test]
fn what_is_cut_off_or_foreign_ends_it() {
    let many = [0xff; 9];
    let tag = |number, wire| Error::IllegalTag { number, wire };
    for (bad, why) in [
        (&[0x80_u8][..], Error::Truncated),
        (&[0x0a, 5, 1], Error::Truncated),
        (&[0x09, 1, 2, 3], Error::Truncated),
        (&[0x0b], tag(1, 3)),
        (&[0x0c], tag(1, 4)),
        (&[0x00], tag(0, 0)),
        (&[&[0x0a], &many[..], &[1]].concat(), Error::Truncated),
        (&[&[0x08], &many[..], &[0xff, 1]].concat(), Error::Overflow),
        (&[&[0x08], &many[..]].concat(), Error::Truncated),
    ] {
        assert_eq!(fields(bad).count(), 0, "{bad:?}");
        assert_eq!(Reader::new(bad).field(), Err(why), "{bad:?}");
    }
}
