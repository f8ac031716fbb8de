//! The declarations of all libraries.

/// The operators and functions of the language itself.
pub(crate) const STANDARD: &str = r"
conditional _?_:_(bool, A, A): A
logical_and _&&_(bool, bool): bool
logical_or _||_(bool, bool): bool
logical_not !_(bool): bool
not_strictly_false @not_strictly_false(bool): bool
equals _==_(A, A): bool
not_equals _!=_(A, A): bool
add_bytes _+_(bytes, bytes): bytes
add_double _+_(double, double): double
add_duration_duration _+_(duration, duration): duration
add_duration_timestamp _+_(duration, timestamp): timestamp
add_timestamp_duration _+_(timestamp, duration): timestamp
add_int64 _+_(int, int): int
add_list _+_(list(A), list(A)): list(A)
add_string _+_(string, string): string
add_uint64 _+_(uint, uint): uint
divide_double _/_(double, double): double
divide_int64 _/_(int, int): int
divide_uint64 _/_(uint, uint): uint
modulo_int64 _%_(int, int): int
modulo_uint64 _%_(uint, uint): uint
multiply_double _*_(double, double): double
multiply_int64 _*_(int, int): int
multiply_uint64 _*_(uint, uint): uint
negate_double -_(double): double
negate_int64 -_(int): int
subtract_double _-_(double, double): double
subtract_duration_duration _-_(duration, duration): duration
subtract_int64 _-_(int, int): int
subtract_timestamp_duration _-_(timestamp, duration): timestamp
subtract_timestamp_timestamp _-_(timestamp, timestamp): duration
subtract_uint64 _-_(uint, uint): uint
less_bool _<_(bool, bool): bool
less_int64 _<_(int, int): bool
less_int64_double _<_(int, double): bool
less_int64_uint64 _<_(int, uint): bool
less_uint64 _<_(uint, uint): bool
less_uint64_double _<_(uint, double): bool
less_uint64_int64 _<_(uint, int): bool
less_double _<_(double, double): bool
less_double_int64 _<_(double, int): bool
less_double_uint64 _<_(double, uint): bool
less_string _<_(string, string): bool
less_bytes _<_(bytes, bytes): bool
less_timestamp _<_(timestamp, timestamp): bool
less_duration _<_(duration, duration): bool
less_equals_bool _<=_(bool, bool): bool
less_equals_int64 _<=_(int, int): bool
less_equals_int64_double _<=_(int, double): bool
less_equals_int64_uint64 _<=_(int, uint): bool
less_equals_uint64 _<=_(uint, uint): bool
less_equals_uint64_double _<=_(uint, double): bool
less_equals_uint64_int64 _<=_(uint, int): bool
less_equals_double _<=_(double, double): bool
less_equals_double_int64 _<=_(double, int): bool
less_equals_double_uint64 _<=_(double, uint): bool
less_equals_string _<=_(string, string): bool
less_equals_bytes _<=_(bytes, bytes): bool
less_equals_timestamp _<=_(timestamp, timestamp): bool
less_equals_duration _<=_(duration, duration): bool
greater_bool _>_(bool, bool): bool
greater_int64 _>_(int, int): bool
greater_int64_double _>_(int, double): bool
greater_int64_uint64 _>_(int, uint): bool
greater_uint64 _>_(uint, uint): bool
greater_uint64_double _>_(uint, double): bool
greater_uint64_int64 _>_(uint, int): bool
greater_double _>_(double, double): bool
greater_double_int64 _>_(double, int): bool
greater_double_uint64 _>_(double, uint): bool
greater_string _>_(string, string): bool
greater_bytes _>_(bytes, bytes): bool
greater_timestamp _>_(timestamp, timestamp): bool
greater_duration _>_(duration, duration): bool
greater_equals_bool _>=_(bool, bool): bool
greater_equals_int64 _>=_(int, int): bool
greater_equals_int64_double _>=_(int, double): bool
greater_equals_int64_uint64 _>=_(int, uint): bool
greater_equals_uint64 _>=_(uint, uint): bool
greater_equals_uint64_double _>=_(uint, double): bool
greater_equals_uint64_int64 _>=_(uint, int): bool
greater_equals_double _>=_(double, double): bool
greater_equals_double_int64 _>=_(double, int): bool
greater_equals_double_uint64 _>=_(double, uint): bool
greater_equals_string _>=_(string, string): bool
greater_equals_bytes _>=_(bytes, bytes): bool
greater_equals_timestamp _>=_(timestamp, timestamp): bool
greater_equals_duration _>=_(duration, duration): bool
index_list _[_](list(A), int): A
index_map _[_](map(A, B), A): B
in_list @in(A, list(A)): bool
in_map @in(A, map(A, B)): bool
size_bytes size(bytes): int
bytes_size bytes.size(): int
size_list size(list(A)): int
list_size list(A).size(): int
size_map size(map(A, B)): int
map_size map(A, B).size(): int
size_string size(string): int
string_size string.size(): int
type type(A): type(A)
bool_to_bool bool(bool): bool
string_to_bool bool(string): bool
bytes_to_bytes bytes(bytes): bytes
string_to_bytes bytes(string): bytes
double_to_double double(double): double
int64_to_double double(int): double
string_to_double double(string): double
uint64_to_double double(uint): double
duration_to_duration duration(duration): duration
string_to_duration duration(string): duration
to_dyn dyn(A): dyn
int64_to_int64 int(int): int
double_to_int64 int(double): int
duration_to_int64 int(duration): int
string_to_int64 int(string): int
timestamp_to_int64 int(timestamp): int
uint64_to_int64 int(uint): int
string_to_string string(string): string
bool_to_string string(bool): string
bytes_to_string string(bytes): string
double_to_string string(double): string
duration_to_string string(duration): string
int64_to_string string(int): string
timestamp_to_string string(timestamp): string
uint64_to_string string(uint): string
timestamp_to_timestamp timestamp(timestamp): timestamp
int64_to_timestamp timestamp(int): timestamp
string_to_timestamp timestamp(string): timestamp
uint64_to_uint64 uint(uint): uint
double_to_uint64 uint(double): uint
int64_to_uint64 uint(int): uint
string_to_uint64 uint(string): uint
contains_string string.contains(string): bool
ends_with_string string.endsWith(string): bool
starts_with_string string.startsWith(string): bool
matches matches(string, string): bool
matches_string string.matches(string): bool
timestamp_to_year timestamp.getFullYear(): int
timestamp_to_year_with_tz timestamp.getFullYear(string): int
timestamp_to_month timestamp.getMonth(): int
timestamp_to_month_with_tz timestamp.getMonth(string): int
timestamp_to_day_of_year timestamp.getDayOfYear(): int
timestamp_to_day_of_year_with_tz timestamp.getDayOfYear(string): int
timestamp_to_day_of_month timestamp.getDayOfMonth(): int
timestamp_to_day_of_month_with_tz timestamp.getDayOfMonth(string): int
timestamp_to_day_of_month_1_based timestamp.getDate(): int
timestamp_to_day_of_month_1_based_with_tz timestamp.getDate(string): int
timestamp_to_day_of_week timestamp.getDayOfWeek(): int
timestamp_to_day_of_week_with_tz timestamp.getDayOfWeek(string): int
timestamp_to_hours timestamp.getHours(): int
timestamp_to_hours_with_tz timestamp.getHours(string): int
duration_to_hours duration.getHours(): int
timestamp_to_minutes timestamp.getMinutes(): int
timestamp_to_minutes_with_tz timestamp.getMinutes(string): int
duration_to_minutes duration.getMinutes(): int
timestamp_to_seconds timestamp.getSeconds(): int
timestamp_to_seconds_tz timestamp.getSeconds(string): int
duration_to_seconds duration.getSeconds(): int
timestamp_to_milliseconds timestamp.getMilliseconds(): int
timestamp_to_milliseconds_with_tz timestamp.getMilliseconds(string): int
duration_to_milliseconds duration.getMilliseconds(): int
";

pub(crate) const URLS: &str = r"
string_to_url url(string): kubernetes.URL
url_get_scheme kubernetes.URL.getScheme(): string
url_get_host kubernetes.URL.getHost(): string
url_get_hostname kubernetes.URL.getHostname(): string
url_get_port kubernetes.URL.getPort(): string
url_get_escaped_path kubernetes.URL.getEscapedPath(): string
url_get_query kubernetes.URL.getQuery(): map(string, list(string))
is_url_string isURL(string): bool
";

pub(crate) const REGEX: &str = r"
string_find_string string.find(string): string
string_find_all_string string.findAll(string): list(string)
string_find_all_string_int string.findAll(string, int): list(string)
";

pub(crate) const KUBERNETES_LISTS: &str = r"
list_int_is_sorted_bool list(int).isSorted(): bool
list_uint_is_sorted_bool list(uint).isSorted(): bool
list_double_is_sorted_bool list(double).isSorted(): bool
list_bool_is_sorted_bool list(bool).isSorted(): bool
list_duration_is_sorted_bool list(duration).isSorted(): bool
list_timestamp_is_sorted_bool list(timestamp).isSorted(): bool
list_string_is_sorted_bool list(string).isSorted(): bool
list_bytes_is_sorted_bool list(bytes).isSorted(): bool
list_int_sum_int list(int).sum(): int
list_uint_sum_uint list(uint).sum(): uint
list_double_sum_double list(double).sum(): double
list_duration_sum_duration list(duration).sum(): duration
list_int_max_int list(int).max(): int
list_uint_max_uint list(uint).max(): uint
list_double_max_double list(double).max(): double
list_bool_max_bool list(bool).max(): bool
list_duration_max_duration list(duration).max(): duration
list_timestamp_max_timestamp list(timestamp).max(): timestamp
list_string_max_string list(string).max(): string
list_bytes_max_bytes list(bytes).max(): bytes
list_int_min_int list(int).min(): int
list_uint_min_uint list(uint).min(): uint
list_double_min_double list(double).min(): double
list_bool_min_bool list(bool).min(): bool
list_duration_min_duration list(duration).min(): duration
list_timestamp_min_timestamp list(timestamp).min(): timestamp
list_string_min_string list(string).min(): string
list_bytes_min_bytes list(bytes).min(): bytes
list_a_index_of_int list(A).indexOf(A): int
list_a_last_index_of_int list(A).lastIndexOf(A): int
";

pub(crate) const KUBERNETES_LISTS_1: &str = r"
list_includes_dyn_dyn dyn.includes(dyn): bool
";

pub(crate) const AUTHZ: &str = r"
authorizer_path kubernetes.authorization.Authorizer.path(string): kubernetes.authorization.PathCheck
authorizer_group kubernetes.authorization.Authorizer.group(string): kubernetes.authorization.GroupCheck
authorizer_serviceaccount kubernetes.authorization.Authorizer.serviceAccount(string, string): kubernetes.authorization.Authorizer
groupcheck_resource kubernetes.authorization.GroupCheck.resource(string): kubernetes.authorization.ResourceCheck
resourcecheck_subresource kubernetes.authorization.ResourceCheck.subresource(string): kubernetes.authorization.ResourceCheck
resourcecheck_namespace kubernetes.authorization.ResourceCheck.namespace(string): kubernetes.authorization.ResourceCheck
resourcecheck_name kubernetes.authorization.ResourceCheck.name(string): kubernetes.authorization.ResourceCheck
pathcheck_check kubernetes.authorization.PathCheck.check(string): kubernetes.authorization.Decision
resourcecheck_check kubernetes.authorization.ResourceCheck.check(string): kubernetes.authorization.Decision
decision_errored kubernetes.authorization.Decision.errored(): bool
decision_error kubernetes.authorization.Decision.error(): string
decision_allowed kubernetes.authorization.Decision.allowed(): bool
decision_reason kubernetes.authorization.Decision.reason(): string
";

pub(crate) const AUTHZ_SELECTORS: &str = r"
authorizer_fieldselector kubernetes.authorization.ResourceCheck.fieldSelector(string): kubernetes.authorization.ResourceCheck
authorizer_labelselector kubernetes.authorization.ResourceCheck.labelSelector(string): kubernetes.authorization.ResourceCheck
";

pub(crate) const OPTIONALS: &str = r"
optional_of optional.of(V): optional_type(V)
optional_ofNonZeroValue optional.ofNonZeroValue(V): optional_type(V)
optional_none optional.none(): optional_type(V)
optional_value optional_type(V).value(): V
optional_hasValue optional_type(V).hasValue(): bool
optional_or_optional optional_type(V).or(optional_type(V)): optional_type(V)
optional_orValue_value optional_type(V).orValue(V): V
select_optional_field _?._(dyn, string): optional_type(V)
list_optindex_optional_int _[?_](list(V), int): optional_type(V)
optional_list_optindex_optional_int _[?_](optional_type(list(V)), int): optional_type(V)
map_optindex_optional_value _[?_](map(K, V), K): optional_type(V)
optional_map_optindex_optional_value _[?_](optional_type(map(K, V)), K): optional_type(V)
optional_list_index_int _[_](optional_type(list(V)), int): optional_type(V)
optional_map_index_value _[_](optional_type(map(K, V)), K): optional_type(V)
list_last list(V).last(): optional_type(V)
list_first list(V).first(): optional_type(V)
optional_unwrap optional.unwrap(list(optional_type(V))): list(V)
optional_unwrapOpt list(optional_type(V)).unwrapOpt(): list(V)
";

pub(crate) const QUANTITY: &str = r"
string_to_quantity quantity(string): kubernetes.Quantity
is_quantity_string isQuantity(string): bool
quantity_sign sign(kubernetes.Quantity): int
quantity_is_greater_than kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool
quantity_is_less_than kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool
quantity_compare_to kubernetes.Quantity.compareTo(kubernetes.Quantity): int
quantity_get_float kubernetes.Quantity.asApproximateFloat(): double
quantity_get_int kubernetes.Quantity.asInteger(): int
quantity_is_integer kubernetes.Quantity.isInteger(): bool
quantity_add kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity
quantity_add_int kubernetes.Quantity.add(int): kubernetes.Quantity
quantity_sub kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity
quantity_sub_int kubernetes.Quantity.sub(int): kubernetes.Quantity
";

pub(crate) const STRINGS: &str = r"
string_char_at_int string.charAt(int): string
string_index_of_string string.indexOf(string): int
string_index_of_string_int string.indexOf(string, int): int
string_last_index_of_string string.lastIndexOf(string): int
string_last_index_of_string_int string.lastIndexOf(string, int): int
string_lower_ascii string.lowerAscii(): string
string_replace_string_string string.replace(string, string): string
string_replace_string_string_int string.replace(string, string, int): string
string_split_string string.split(string): list(string)
string_split_string_int string.split(string, int): list(string)
string_substring_int string.substring(int): string
string_substring_int_int string.substring(int, int): string
string_trim string.trim(): string
string_upper_ascii string.upperAscii(): string
";

pub(crate) const STRINGS_1: &str = r"
string_format string.format(list(dyn)): string
strings_quote strings.quote(string): string
";

pub(crate) const STRINGS_2: &str = r"
list_join list(string).join(): string
list_join_string list(string).join(string): string
";

pub(crate) const STRINGS_3: &str = r"
string_reverse string.reverse(): string
";

pub(crate) const SETS: &str = r"
list_sets_contains_list sets.contains(list(T), list(T)): bool
list_sets_equivalent_list sets.equivalent(list(T), list(T)): bool
list_sets_intersects_list sets.intersects(list(T), list(T)): bool
";

pub(crate) const IP: &str = r"
string_to_ip ip(string): net.IP
ip_family net.IP.family(): int
ip_is_canonical ip.isCanonical(string): bool
ip_is_unspecified net.IP.isUnspecified(): bool
ip_is_loopback net.IP.isLoopback(): bool
ip_is_link_local_multicast net.IP.isLinkLocalMulticast(): bool
ip_is_link_local_unicast net.IP.isLinkLocalUnicast(): bool
ip_is_global_unicast net.IP.isGlobalUnicast(): bool
is_ip isIP(string): bool
ip_to_string string(net.IP): string
";

pub(crate) const CIDR: &str = r"
string_to_cidr cidr(string): net.CIDR
cidr_contains_ip_string net.CIDR.containsIP(string): bool
cidr_contains_ip_ip net.CIDR.containsIP(net.IP): bool
cidr_contains_cidr_string net.CIDR.containsCIDR(string): bool
cidr_contains_cidr net.CIDR.containsCIDR(net.CIDR): bool
cidr_ip net.CIDR.ip(): net.IP
cidr_prefix_length net.CIDR.prefixLength(): int
cidr_masked net.CIDR.masked(): net.CIDR
is_cidr isCIDR(string): bool
cidr_to_string string(net.CIDR): string
";

/// What cel-go's own network library has beyond that of Kubernetes.
pub(crate) const NETWORK: &str = r"
cidr_is_mask net.CIDR.isMask(): bool
";

pub(crate) const FORMAT: &str = r"
format-validate kubernetes.NamedFormat.validate(string): optional_type(list(string))
format-named format.named(string): optional_type(kubernetes.NamedFormat)
format.dns1123Label format.dns1123Label(): kubernetes.NamedFormat
format.dns1123Subdomain format.dns1123Subdomain(): kubernetes.NamedFormat
format.dns1035Label format.dns1035Label(): kubernetes.NamedFormat
format.qualifiedName format.qualifiedName(): kubernetes.NamedFormat
format.dns1123LabelPrefix format.dns1123LabelPrefix(): kubernetes.NamedFormat
format.dns1123SubdomainPrefix format.dns1123SubdomainPrefix(): kubernetes.NamedFormat
format.dns1035LabelPrefix format.dns1035LabelPrefix(): kubernetes.NamedFormat
format.labelValue format.labelValue(): kubernetes.NamedFormat
format.uri format.uri(): kubernetes.NamedFormat
format.uuid format.uuid(): kubernetes.NamedFormat
format.byte format.byte(): kubernetes.NamedFormat
format.date format.date(): kubernetes.NamedFormat
format.datetime format.datetime(): kubernetes.NamedFormat
";

pub(crate) const TWO_VARIABLES: &str = r"
@mapInsert_map_map cel.@mapInsert(map(K, V), map(K, V)): map(K, V)
@mapInsert_map_key_value cel.@mapInsert(map(K, V), K, V): map(K, V)
";

pub(crate) const SEMVER: &str = r"
string_to_semver semver(string): kubernetes.Semver
string_bool_to_semver semver(string, bool): kubernetes.Semver
is_semver_string isSemver(string): bool
is_semver_string_bool isSemver(string, bool): bool
semver_is_greater_than kubernetes.Semver.isGreaterThan(kubernetes.Semver): bool
semver_is_less_than kubernetes.Semver.isLessThan(kubernetes.Semver): bool
semver_compare_to kubernetes.Semver.compareTo(kubernetes.Semver): int
semver_major kubernetes.Semver.major(): int
semver_minor kubernetes.Semver.minor(): int
semver_patch kubernetes.Semver.patch(): int
";

pub(crate) const LISTS: &str = r"
list_slice list(T).slice(int, int): list(T)
list_flatten list(list(T)).flatten(): list(T)
list_flatten_int list(dyn).flatten(int): list(dyn)
list_int_sort list(int).sort(): list(int)
list_uint_sort list(uint).sort(): list(uint)
list_double_sort list(double).sort(): list(double)
list_bool_sort list(bool).sort(): list(bool)
list_google.protobuf.Duration_sort list(duration).sort(): list(duration)
list_google.protobuf.Timestamp_sort list(timestamp).sort(): list(timestamp)
list_string_sort list(string).sort(): list(string)
list_bytes_sort list(bytes).sort(): list(bytes)
list_int_sortByAssociatedKeys list(T).@sortByAssociatedKeys(list(int)): list(T)
list_uint_sortByAssociatedKeys list(T).@sortByAssociatedKeys(list(uint)): list(T)
list_double_sortByAssociatedKeys list(T).@sortByAssociatedKeys(list(double)): list(T)
list_bool_sortByAssociatedKeys list(T).@sortByAssociatedKeys(list(bool)): list(T)
list_google.protobuf.Duration_sortByAssociatedKeys list(T).@sortByAssociatedKeys(list(duration)): list(T)
list_google.protobuf.Timestamp_sortByAssociatedKeys list(T).@sortByAssociatedKeys(list(timestamp)): list(T)
list_string_sortByAssociatedKeys list(T).@sortByAssociatedKeys(list(string)): list(T)
list_bytes_sortByAssociatedKeys list(T).@sortByAssociatedKeys(list(bytes)): list(T)
lists_range lists.range(int): list(int)
list_reverse list(T).reverse(): list(T)
list_distinct list(T).distinct(): list(T)
";

pub(crate) const JSON_PATCH: &str = r"
string_jsonpatch_escapeKey_string jsonpatch.escapeKey(string): string
";

pub(crate) const ENCODERS: &str = r"
base64_decode_string base64.decode(string): bytes
base64_encode_bytes base64.encode(bytes): string
";

pub(crate) const MATH: &str = r"
math_@min_double math.@min(double): double
math_@min_int math.@min(int): int
math_@min_uint math.@min(uint): uint
math_@min_double_double math.@min(double, double): double
math_@min_int_int math.@min(int, int): int
math_@min_uint_uint math.@min(uint, uint): uint
math_@min_int_uint math.@min(int, uint): dyn
math_@min_int_double math.@min(int, double): dyn
math_@min_double_int math.@min(double, int): dyn
math_@min_double_uint math.@min(double, uint): dyn
math_@min_uint_int math.@min(uint, int): dyn
math_@min_uint_double math.@min(uint, double): dyn
math_@min_list_double math.@min(list(double)): double
math_@min_list_int math.@min(list(int)): int
math_@min_list_uint math.@min(list(uint)): uint
math_@max_double math.@max(double): double
math_@max_int math.@max(int): int
math_@max_uint math.@max(uint): uint
math_@max_double_double math.@max(double, double): double
math_@max_int_int math.@max(int, int): int
math_@max_uint_uint math.@max(uint, uint): uint
math_@max_int_uint math.@max(int, uint): dyn
math_@max_int_double math.@max(int, double): dyn
math_@max_double_int math.@max(double, int): dyn
math_@max_double_uint math.@max(double, uint): dyn
math_@max_uint_int math.@max(uint, int): dyn
math_@max_uint_double math.@max(uint, double): dyn
math_@max_list_double math.@max(list(double)): double
math_@max_list_int math.@max(list(int)): int
math_@max_list_uint math.@max(list(uint)): uint
math_ceil_double math.ceil(double): double
math_floor_double math.floor(double): double
math_round_double math.round(double): double
math_trunc_double math.trunc(double): double
math_isInf_double math.isInf(double): bool
math_isNaN_double math.isNaN(double): bool
math_isFinite_double math.isFinite(double): bool
math_abs_double math.abs(double): double
math_abs_int math.abs(int): int
math_abs_uint math.abs(uint): uint
math_sign_double math.sign(double): double
math_sign_int math.sign(int): int
math_sign_uint math.sign(uint): uint
math_bitAnd_int_int math.bitAnd(int, int): int
math_bitAnd_uint_uint math.bitAnd(uint, uint): uint
math_bitOr_int_int math.bitOr(int, int): int
math_bitOr_uint_uint math.bitOr(uint, uint): uint
math_bitXor_int_int math.bitXor(int, int): int
math_bitXor_uint_uint math.bitXor(uint, uint): uint
math_bitNot_int_int math.bitNot(int): int
math_bitNot_uint_uint math.bitNot(uint): uint
math_bitShiftLeft_int_int math.bitShiftLeft(int, int): int
math_bitShiftLeft_uint_int math.bitShiftLeft(uint, int): uint
math_bitShiftRight_int_int math.bitShiftRight(int, int): int
math_bitShiftRight_uint_int math.bitShiftRight(uint, int): uint
math_sqrt_double math.sqrt(double): double
math_sqrt_int math.sqrt(int): double
math_sqrt_uint math.sqrt(uint): double
";

pub(crate) const REGEX_EXTENSION: &str = r"
regex_extract_string_string regex.extract(string, string): optional_type(string)
regex_extractAll_string_string regex.extractAll(string, string): list(string)
regex_replace_string_string_string regex.replace(string, string, string): string
regex_replace_string_string_string_int regex.replace(string, string, string, int): string
";

#[cfg(test)]
pub(crate) const ALL: &[&str] = &[
    STANDARD,
    URLS,
    REGEX,
    KUBERNETES_LISTS,
    KUBERNETES_LISTS_1,
    AUTHZ,
    AUTHZ_SELECTORS,
    OPTIONALS,
    QUANTITY,
    STRINGS,
    STRINGS_1,
    STRINGS_2,
    STRINGS_3,
    SETS,
    IP,
    CIDR,
    NETWORK,
    FORMAT,
    TWO_VARIABLES,
    SEMVER,
    LISTS,
    JSON_PATCH,
    ENCODERS,
    MATH,
    REGEX_EXTENSION,
];
