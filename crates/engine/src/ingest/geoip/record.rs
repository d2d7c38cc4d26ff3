//! The record of an address, with the members of all kinds of databases. Numbers may have any width in the
//! file.

use serde::Deserialize;
use serde_json::Number;

/// Names of a place by language; only English is read.
#[derive(Debug, Default, Deserialize)]
pub struct Names<'d> {
    #[serde(borrow)]
    pub en: Option<&'d str>,
}

/// A country.
#[derive(Debug, Default, Deserialize)]
pub struct Country<'d> {
    #[serde(borrow)]
    pub iso_code: Option<&'d str>,
    pub names: Option<Names<'d>>,
    pub is_in_european_union: Option<bool>,
    pub confidence: Option<Number>,
}

/// A continent.
#[derive(Debug, Default, Deserialize)]
pub struct Continent<'d> {
    #[serde(borrow)]
    pub code: Option<&'d str>,
    pub names: Option<Names<'d>>,
}

/// A city, or a part of a country.
#[derive(Debug, Default, Deserialize)]
pub struct Named<'d> {
    #[serde(borrow)]
    pub names: Option<Names<'d>>,
    pub iso_code: Option<&'d str>,
    pub confidence: Option<Number>,
}

/// The geographic location of the address.
#[derive(Debug, Default, Deserialize)]
pub struct Location<'d> {
    pub latitude: Option<Number>,
    pub longitude: Option<Number>,
    #[serde(borrow)]
    pub time_zone: Option<&'d str>,
    pub accuracy_radius: Option<Number>,
}

/// Postal code of the place.
#[derive(Debug, Default, Deserialize)]
pub struct Postal<'d> {
    #[serde(borrow)]
    pub code: Option<&'d str>,
    pub confidence: Option<Number>,
}

/// What City, Country and Enterprise databases keep in `traits`, and the other kinds at the top level.
#[derive(Debug, Default, Deserialize)]
pub struct Traits<'d> {
    pub autonomous_system_number: Option<Number>,
    #[serde(borrow)]
    pub autonomous_system_organization: Option<&'d str>,
    pub connection_type: Option<&'d str>,
    pub domain: Option<&'d str>,
    pub isp: Option<&'d str>,
    pub organization: Option<&'d str>,
    pub mobile_country_code: Option<&'d str>,
    pub mobile_network_code: Option<&'d str>,
    pub user_type: Option<&'d str>,
    pub is_anonymous: Option<bool>,
    pub is_anonymous_vpn: Option<bool>,
    pub is_hosting_provider: Option<bool>,
    pub is_public_proxy: Option<bool>,
    pub is_residential_proxy: Option<bool>,
    pub is_tor_exit_node: Option<bool>,
}

/// The whole record of one address.
#[derive(Debug, Default, Deserialize)]
pub struct Record<'d> {
    #[serde(borrow)]
    pub city: Option<Named<'d>>,
    pub continent: Option<Continent<'d>>,
    pub country: Option<Country<'d>>,
    pub registered_country: Option<Country<'d>>,
    pub location: Option<Location<'d>>,
    pub postal: Option<Postal<'d>>,
    #[serde(default)]
    pub subdivisions: Vec<Named<'d>>,
    pub traits: Option<Traits<'d>>,
}
