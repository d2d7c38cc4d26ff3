use limber_store::DiskSpace;

use super::place::{Candidate, rank, shard_of};

fn candidate(volume: &str, of_index: usize, shards: usize, available_bytes: u64) -> Candidate {
    let space = DiskSpace { total_bytes: 1_000, available_bytes };
    Candidate { volume: Some(volume.into()), of_index, shards, space }
}

fn order(candidates: Vec<Candidate>) -> Vec<String> {
    rank(candidates).into_iter().filter_map(|candidate| candidate.volume).collect()
}

#[test]
fn paths_are_of_a_shard_or_of_the_main_folder() {
    assert_eq!(shard_of("indices/u/0"), Some(("indices/u/0", "indices/u")));
    assert_eq!(shard_of("indices/u/12/deeper"), Some(("indices/u/12", "indices/u")));
    for path in ["", "node", "indices", "indices/", "indices/u", "indices/u/", "indices/u/x", "security/u/0"]
    {
        assert_eq!(shard_of(path), None, "{path}");
    }
}

#[test]
fn shards_go_where_the_index_has_few_and_space_is_free_for_each() {
    // First the shards of the same index, then the space for each shard.
    let volumes = vec![candidate("a", 1, 1, 900), candidate("b", 0, 9, 500), candidate("c", 0, 0, 400)];
    assert_eq!(order(volumes), ["c", "b", "a"]);
    // A volume that is nearly full is taken last, however few shards it has.
    let volumes = vec![candidate("full", 0, 0, 49), candidate("a", 3, 50, 51)];
    assert_eq!(order(volumes), ["a", "full"]);
    // Equal ones stay in the order of the configuration.
    assert_eq!(order(vec![candidate("a", 0, 0, 500), candidate("b", 0, 0, 500)]), ["a", "b"]);
}
