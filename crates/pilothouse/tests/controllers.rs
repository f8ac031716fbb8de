//! What a cluster does by itself: stories told through the API of a server in memory.

mod controllers {
    mod certificates;
    mod cluster;
    mod custom_resources;
    mod garbage_collection;
    mod namespaces;
    mod protection;
    mod upkeep;
}
