//! The messages of `openapi.v3`: what our documents use of them.

use super::Message;
use super::What::{
    self, Additional, Anys, Bool, Default, Double, Each, Int, Map, One, OrReference, Text, Texts,
    Within,
};

pub(super) static DOCUMENT: Message = Message {
    fields: &[
        ("openapi", 1, Text),
        ("info", 2, One(&INFO)),
        ("paths", 4, Map(1, &One(&PATH))),
        ("components", 5, One(&COMPONENTS)),
    ],
    extensions: 9,
};

static INFO: Message = Message {
    fields: &[("title", 1, Text), ("version", 6, Text)],
    extensions: 7,
};

static COMPONENTS: Message = Message {
    fields: &[
        ("schemas", 1, Map(1, SCHEMAS)),
        ("securitySchemes", 7, Map(1, &OrReference(&SECURITY))),
    ],
    extensions: 10,
};

static SECURITY: Message = Message {
    fields: &[
        ("type", 1, Text),
        ("description", 2, Text),
        ("name", 3, Text),
        ("in", 4, Text),
    ],
    extensions: 9,
};

static PATH: Message = Message {
    fields: &[
        ("get", 4, One(&OPERATION)),
        ("put", 5, One(&OPERATION)),
        ("post", 6, One(&OPERATION)),
        ("delete", 7, One(&OPERATION)),
        ("options", 8, One(&OPERATION)),
        ("head", 9, One(&OPERATION)),
        ("patch", 10, One(&OPERATION)),
        ("parameters", 13, Each(&OrReference(&PARAMETER))),
    ],
    extensions: 14,
};

static OPERATION: Message = Message {
    fields: &[
        ("tags", 1, Texts),
        ("description", 3, Text),
        ("operationId", 5, Text),
        ("parameters", 6, Each(&OrReference(&PARAMETER))),
        ("requestBody", 7, OrReference(&BODY)),
        ("responses", 8, Map(2, &OrReference(&RESPONSE))),
    ],
    extensions: 13,
};

static PARAMETER: Message = Message {
    fields: &[
        ("name", 1, Text),
        ("in", 2, Text),
        ("description", 3, Text),
        ("required", 4, Bool),
        ("schema", 10, OrReference(&SCHEMA)),
    ],
    extensions: 14,
};

static BODY: Message = Message {
    fields: &[
        ("description", 1, Text),
        ("content", 2, Map(1, &One(&MEDIA))),
        ("required", 3, Bool),
    ],
    extensions: 4,
};

static RESPONSE: Message = Message {
    fields: &[
        ("description", 1, Text),
        ("content", 3, Map(1, &One(&MEDIA))),
    ],
    extensions: 5,
};

static MEDIA: Message = Message {
    fields: &[("schema", 1, OrReference(&SCHEMA))],
    extensions: 5,
};

static SCHEMAS: &What = &OrReference(&SCHEMA);

static SCHEMA: Message = Message {
    fields: &[
        ("nullable", 1, Bool),
        ("title", 9, Text),
        ("multipleOf", 10, Double),
        ("maximum", 11, Double),
        ("exclusiveMaximum", 12, Bool),
        ("minimum", 13, Double),
        ("exclusiveMinimum", 14, Bool),
        ("maxLength", 15, Int),
        ("minLength", 16, Int),
        ("pattern", 17, Text),
        ("maxItems", 18, Int),
        ("minItems", 19, Int),
        ("uniqueItems", 20, Bool),
        ("maxProperties", 21, Int),
        ("minProperties", 22, Int),
        ("required", 23, Texts),
        ("enum", 24, Anys),
        ("type", 25, Text),
        ("allOf", 26, Each(SCHEMAS)),
        ("oneOf", 27, Each(SCHEMAS)),
        ("anyOf", 28, Each(SCHEMAS)),
        ("not", 29, One(&SCHEMA)),
        ("items", 30, Within(1, SCHEMAS)),
        ("properties", 31, Map(1, SCHEMAS)),
        ("additionalProperties", 32, Additional(SCHEMAS)),
        ("default", 33, Default),
        ("description", 34, Text),
        ("format", 35, Text),
    ],
    extensions: 36,
};
