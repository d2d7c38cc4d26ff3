//! `ip_prefix`: addresses by the network that they belong to. Source: Elasticsearch's
//! `IpPrefixAggregationBuilder`, `IpPrefixAggregator`, `InternalIpPrefix`.

use limber_mapping::RequestError;
use limber_mapping::ip::{self, IpBytes};
use limber_segment::SegmentView;

use super::super::answer::members::Members;
use super::super::answer::partial::{Key, ListPartial, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::Bound;
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::{Entries, Values};
use super::super::buckets::keyed_buckets::KeyedBuckets;
use super::super::buckets::list::groups_of;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, KeyReader};
use super::super::terms::TermPool;
use super::super::tree::{Aggregation, Kind};
use crate::context::ShardSnapshot;
use crate::error::Result;

/// The prefix of an IPv4 address that is mapped to IPv6.
const IPV4: u128 = 0xffff << 32;

/// The options of an `ip_prefix`: the number of address bits that identify a network.
#[derive(Debug, Clone)]
pub struct IpPrefix {
    values: ValuesOptions,
    length: i32,
    is_ipv6: bool,
    shows_length: bool,
    keyed: bool,
    min_doc_count: u64,
}

impl IpPrefix {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let length = options.int("prefix_length")?;
        let is_ipv6 = options.boolean("is_ipv6")?.unwrap_or(false);
        let shows_length = options.boolean("append_prefix_length")?.unwrap_or(false);
        let keyed = options.boolean("keyed")?.unwrap_or(false);
        let min_doc_count = options.int("min_doc_count")?.unwrap_or(1);
        let min_doc_count =
            u64::try_from(min_doc_count).ok().filter(|count| *count > 0).ok_or_else(|| {
                let reason = format!(
                    "[min_doc_count] must be in range [1, {}] while value is [{min_doc_count}]",
                    i32::MAX
                );
                options.refused("min_doc_count", reason)
            })?;
        let values = ValuesOptions::parse_only_field(options)?;
        // Elasticsearch checks the length on the shards, and reads a missing one as -1.
        let length = length.unwrap_or(-1);
        Ok(Kind::own(IpPrefix { values, length, is_ipv6, shows_length, keyed, min_doc_count }))
    }

    /// Returns the mask of the bits that are kept. IPv4 networks apply it to the last 32 bits.
    fn mask(&self) -> u128 {
        let bits = u128::MAX.checked_shl(128 - self.length.max(0) as u32).unwrap_or(0);
        if self.is_ipv6 { bits } else { IPV4 | bits >> 96 }
    }

    /// Returns the network of an address. For IPv4 networks only the last 32 bits of an IPv6 address count.
    fn network(&self, address: &[u8]) -> IpBytes {
        let Ok(address) = IpBytes::try_from(address) else { return [0; 16] };
        let address = u128::from_be_bytes(address);
        let kept = if self.is_ipv6 { address } else { IPV4 | address };
        (kept & self.mask()).to_be_bytes()
    }

    fn name(&self, key: &Key) -> String {
        let Key::Term(term) = key else { return String::new() };
        let address = IpBytes::try_from(&term[..]).map(|bytes| ip::format(&bytes)).unwrap_or_default();
        if self.shows_length { format!("{address}/{}", self.length) } else { address }
    }
}

impl Request for IpPrefix {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Addresses)]
    }

    fn check_on_shard(&self, _: &Bound, _: &ShardSnapshot) -> Result<()> {
        let (length, most) = (self.length, if self.is_ipv6 { 128 } else { 32 });
        match (0..=most).contains(&length) {
            true => Ok(()),
            false => Err(RequestError::illegal_argument(format!(
                "[prefix_length] must be in range [0, {most}] while value is [{length}]"
            ))
            .into()),
        }
    }
}

impl Collect for IpPrefix {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(IpPrefixCollector {
            request: self,
            addresses: KeyReader::new(&context.bound.sources()[0], None)?,
            networks: TermPool::default(),
            network_of: Vec::new(),
            ids: Vec::new(),
            positions: Vec::new(),
            buckets: KeyedBuckets::new(BucketTable::default(), context.subs, context.budget),
            budget: context.budget,
        }))
    }
}

impl Reduce for IpPrefix {
    type Finding = ListPartial;

    /// Reduces the networks by address.
    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<ListPartial>,
        reducer: &mut Reducer<'_>,
    ) -> Result<ListPartial> {
        let mut all = groups_of(parts);
        all.retain(|group| group.bucket.doc_count >= self.min_doc_count);
        Ok(ListPartial::of(reducer.buckets_of(own, all)?))
    }
}

impl Render for IpPrefix {
    fn render(&self, list: &ListPartial, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.buckets(self.keyed, |buckets| {
            for bucket in &list.buckets {
                let name = self.name(&bucket.keys[0]);
                buckets.add(&name, |out| {
                    if !self.keyed {
                        out.insert("key", &name)?;
                    }
                    if !self.is_ipv6 {
                        out.insert("netmask", &ip::format(&self.mask().to_be_bytes()))?;
                    }
                    out.insert("is_ipv6", &self.is_ipv6)?;
                    out.insert("prefix_length", &self.length)?;
                    renderer.bucket(bucket.doc_count, &bucket.subs, out)
                })?;
            }
            Ok(())
        })
    }
}

#[derive(Debug)]
struct IpPrefixCollector<'s> {
    request: &'s IpPrefix,
    addresses: KeyReader<'s>,
    networks: TermPool,
    /// The number of the network, or [`UNKNOWN`], by the id of an address.
    network_of: Vec<u32>,
    /// The current batch: network numbers, and their positions among the documents.
    ids: Vec<i64>,
    positions: Vec<u32>,
    buckets: KeyedBuckets<'s>,
    budget: &'s Budget,
}

/// Marks an address whose network was not looked up yet.
const UNKNOWN: u32 = u32::MAX;

impl<'s> Collector<'s> for IpPrefixCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.addresses.begin(view, self.budget)?;
        self.buckets.subs.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let values = self.addresses.load(entries.docs, self.budget)?;
        self.ids.clear();
        self.ids.extend_from_slice(values.values);
        self.positions.clear();
        self.positions.extend(values.positions.into_iter().flatten());
        let is_single = values.positions.is_none();
        for id in &mut self.ids {
            let address = *id as usize;
            if address >= self.network_of.len() {
                let more = address + 1 - self.network_of.len();
                self.budget.spend((more * size_of::<u32>()) as u64)?;
                self.network_of.resize(address + 1, UNKNOWN);
            }
            if self.network_of[address] == UNKNOWN
                && let Key::Term(term) = self.addresses.key(*id)
            {
                let network = self.request.network(&term);
                self.network_of[address] = self.networks.number(&network, self.budget)?;
            }
            *id = i64::from(self.network_of[address]);
        }
        let positions = (!is_single).then_some(&self.positions[..]);
        let networks = Values { values: &self.ids[..], positions };
        // The addresses of a document ascend, so those of one network are adjacent.
        let mut last = None;
        self.buckets.collect(&networks, entries, |entry, network| {
            let is_new = last.replace((entry, network)) != Some((entry, network));
            is_new.then_some(network)
        })
    }

    fn end_segment(&mut self) -> Result<()> {
        self.buckets.end_segment()
    }

    fn finish(&mut self, parents: &[u32]) -> Result<Vec<Partial>> {
        self.buckets
            .finish_lists(parents, |network| [Key::Term(self.networks.term(network as u32).into())].into())
    }
}
