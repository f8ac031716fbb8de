//! Content negotiation: the format and the view that a client accepts.

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Format {
    Json,
    Yaml,
    Protobuf,
}

impl Format {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
        }
    }
}

/// What an answer shows of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum View {
    Whole,
    /// `as=Table`, of this version of meta.k8s.io.
    Table(&'static str),
    /// `as=PartialObjectMetadata`.
    Metadata(&'static str),
    /// `as=PartialObjectMetadataList`.
    MetadataList(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub format: Format,
    pub view: View,
    pub pretty: bool,
}

/// The media types of objects.
pub(crate) const FORMATS: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];

struct Clause<'a> {
    media: &'a str,
    quality: f32,
    parameters: Vec<(&'a str, &'a str)>,
}

/// What a path has to offer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    /// Tables and metadata.
    pub views: bool,
    /// Whole objects as protobuf: custom ones have no such form.
    pub protobuf: bool,
}

impl Offer {
    /// Any object of ours in any format.
    pub(crate) const PLAIN: Self = Self {
        views: false,
        protobuf: true,
    };
    pub(crate) const VIEWS: Self = Self {
        views: true,
        protobuf: true,
    };
}

/// The first clause that we can answer, best quality first. `None` if there is none.
pub(crate) fn accept(header: Option<&str>, offer: Offer) -> Option<Accepted> {
    let header = header.map(str::trim).filter(|header| !header.is_empty());
    let Some(header) = header else {
        return Some(plain(Format::Json));
    };
    if !header.contains([',', ';']) {
        // As most say it: one media type and no more.
        let clause = Clause {
            media: header,
            quality: 1.0,
            parameters: Vec::new(),
        };
        return take(&clause, offer);
    }
    let mut clauses: Vec<_> = header.split(',').filter_map(clause).collect();
    // As goautoneg: the best first, among equals the more specific, else as they came.
    clauses.sort_by(|a, b| {
        let specific = wildcards(a.media).cmp(&wildcards(b.media));
        b.quality.total_cmp(&a.quality).then(specific)
    });
    clauses.iter().find_map(|clause| take(clause, offer))
}

/// Whether some clause names a format of ours, whatever view of the object it asks for.
pub(crate) fn names_format(header: &str) -> bool {
    let mut clauses = header.split(',').filter_map(clause);
    clauses.any(|clause| format(clause.media).is_some())
}

fn format(media: &str) -> Option<Format> {
    match media {
        "application/json" | "*/*" | "application/*" => Some(Format::Json),
        "application/yaml" => Some(Format::Yaml),
        "application/vnd.kubernetes.protobuf" => Some(Format::Protobuf),
        _ => None,
    }
}

fn plain(format: Format) -> Accepted {
    Accepted {
        format,
        view: View::Whole,
        pretty: false,
    }
}

fn clause(text: &str) -> Option<Clause<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let media = parts.next().filter(|media| !media.is_empty())?;
    let mut quality = 1.0;
    let mut parameters = Vec::new();
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (key.trim(), value.trim().trim_matches('"'));
        if key == "q" {
            quality = value.parse().unwrap_or(1.0);
        } else {
            parameters.push((key, value));
        }
    }
    Some(Clause {
        media,
        quality,
        parameters,
    })
}

fn wildcards(media: &str) -> usize {
    media.matches('*').count()
}

fn take(clause: &Clause<'_>, offer: Offer) -> Option<Accepted> {
    let format = format(clause.media)?;
    let get = |name: &str| {
        let found = clause.parameters.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| *value)
    };
    let streams = match get("stream") {
        None | Some("") => true,
        Some(schema) => schema == "watch" && format != Format::Yaml,
    };
    if !streams || !matches!(get("sv"), None | Some("" | "v1")) {
        return None;
    }
    let asked = (get("as"), get("g"), get("v"));
    let view = match asked {
        (None, None, None) if format == Format::Protobuf && !offer.protobuf => return None,
        (None, None, None) => View::Whole,
        (Some(what), Some("meta.k8s.io"), Some(version)) if offer.views => {
            view(what, version, format)?
        }
        _ => return None,
    };
    Some(Accepted {
        format,
        view,
        pretty: get("pretty") == Some("1"),
    })
}

fn view(what: &str, version: &str, format: Format) -> Option<View> {
    let version = match version {
        "v1" => "v1",
        "v1beta1" => "v1beta1",
        _ => return None,
    };
    match what {
        // Cells have any type, which protobuf has not.
        "Table" if format != Format::Protobuf => Some(View::Table(version)),
        "PartialObjectMetadata" => Some(View::Metadata(version)),
        "PartialObjectMetadataList" => Some(View::MetadataList(version)),
        _ => None,
    }
}

/// Whether a client is a person with a browser or curl, to whom kube-apiserver shows indented JSON.
pub(crate) fn wants_pretty(query: Option<&str>, user_agent: Option<&str>) -> bool {
    if let Some(asked) = query {
        return matches!(asked, "1" | "true" | "True" | "TRUE" | "t" | "T");
    }
    let agent = user_agent.unwrap_or_default();
    ["curl", "Wget", "Mozilla/5.0"]
        .iter()
        .any(|known| agent.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_clause_that_we_know_wins() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        let read = |header, views| {
            let offer = if views { Offer::VIEWS } else { Offer::PLAIN };
            accept(Some(header), offer).map(|it| (it.format, it.view))
        };
        let cases = [
            ("", true, Some((Format::Json, View::Whole))),
            ("*/*", true, Some((Format::Json, View::Whole))),
            (kubectl, true, Some((Format::Json, View::Table("v1")))),
            (kubectl, false, Some((Format::Json, View::Whole))),
            ("application/cbor", true, None),
            (
                "application/cbor, application/json;q=0.5",
                true,
                Some((Format::Json, View::Whole)),
            ),
            (
                "*/*;q=0.8,application/yaml",
                true,
                Some((Format::Yaml, View::Whole)),
            ),
            (
                "application/vnd.kubernetes.protobuf,application/json",
                true,
                Some((Format::Protobuf, View::Whole)),
            ),
            (
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                true,
                Some((Format::Json, View::MetadataList("v1"))),
            ),
            ("application/json;as=Other;g=meta.k8s.io;v=v1", true, None),
            ("application/json;g=meta.k8s.io;v=v1", true, None),
            ("application/json;as=", true, None),
            (
                "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1",
                true,
                None,
            ),
            (
                "application/json;stream=watch",
                true,
                Some((Format::Json, View::Whole)),
            ),
            ("application/yaml;stream=watch", true, None),
            ("application/json;stream=other", true, None),
            ("application/json;sv=v2", true, None),
        ];
        for (header, views, want) in cases {
            assert_eq!(read(header, views), want, "{header}");
        }
    }

    #[test]
    fn custom_objects_come_as_protobuf_by_their_metadata_only() {
        let read = |header| {
            let offer = Offer {
                views: true,
                protobuf: false,
            };
            accept(Some(header), offer).map(|it| it.format)
        };
        let protobuf = "application/vnd.kubernetes.protobuf";
        assert_eq!(read(protobuf), None);
        let both = format!("{protobuf},application/json");
        assert_eq!(read(&both), Some(Format::Json));
        let metadata = format!("{protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
        assert_eq!(read(&metadata), Some(Format::Protobuf));
    }
}
