//! One MaxMind database file.

use std::fmt;
use std::net::IpAddr;

use limber_store::FileBytes;
use maxminddb::Reader;
use serde_json::{Map, Value, json};

use super::property::{DatabaseKind, Property};
use super::record::{Country, Record, Traits};

struct Bytes(FileBytes);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// One open MaxMind database.
pub struct Database {
    reader: Reader<Bytes>,
    /// `None` for a type that processors do not know.
    pub kind: Option<DatabaseKind>,
}

impl fmt::Debug for Database {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Database").field("type", &self.database_type()).finish_non_exhaustive()
    }
}

impl Database {
    /// Opens a database. The error says what is wrong with the file.
    pub fn open(bytes: FileBytes) -> Result<Database, String> {
        let reader = Reader::from_source(Bytes(bytes)).map_err(|error| error.to_string())?;
        let kind = DatabaseKind::of(&reader.metadata().database_type);
        Ok(Database { reader, kind })
    }

    /// Returns the type, such as `GeoLite2-City`.
    pub fn database_type(&self) -> &str {
        &self.reader.metadata().database_type
    }

    /// Looks up properties of an address. Unknown ones are left out; an unknown address has none. The error
    /// says what is wrong with the file.
    pub fn look_up(&self, address: IpAddr, properties: &[Property]) -> Result<Map<String, Value>, String> {
        let found = self.reader.lookup(address).map_err(|error| error.to_string())?;
        if !found.has_data() {
            return Ok(Map::new());
        }
        let is_flat = matches!(
            self.kind,
            Some(
                DatabaseKind::AnonymousIp
                    | DatabaseKind::Asn
                    | DatabaseKind::ConnectionType
                    | DatabaseKind::Domain
                    | DatabaseKind::Isp
            )
        );
        let decoded = match is_flat {
            true => found
                .decode::<Traits<'_>>()
                .map(|traits| traits.map(|traits| Record { traits: Some(traits), ..Record::default() })),
            false => found.decode::<Record<'_>>(),
        };
        let Some(record) = decoded.map_err(|error| error.to_string())? else { return Ok(Map::new()) };
        let mut out = Map::new();
        for &property in properties {
            let value = match property {
                Property::Ip => json!(address.to_string()),
                Property::Network => {
                    found.network().map_or(Value::Null, |network| json!(network.to_string()))
                }
                _ => value_of(property, &record),
            };
            if !value.is_null() {
                out.insert(property.name().to_owned(), value);
            }
        }
        Ok(out)
    }
}

fn value_of(property: Property, record: &Record<'_>) -> Value {
    let none = Traits::default();
    let traits = record.traits.as_ref().unwrap_or(&none);
    let name = |country: &Option<Country<'_>>| -> Value {
        json!(country.as_ref().and_then(|country| country.names.as_ref()?.en))
    };
    let code = |country: &Option<Country<'_>>| -> Value {
        json!(country.as_ref().and_then(|country| country.iso_code))
    };
    // A country whose record lacks the flag is outside the European Union.
    let is_in_union = |country: &Option<Country<'_>>| -> Value {
        json!(country.as_ref().map(|country| country.is_in_european_union.unwrap_or(false)))
    };
    let region = record.subdivisions.last();
    let location = record.location.as_ref();
    match property {
        Property::Ip | Property::Network => Value::Null,
        Property::CountryConfidence => {
            json!(record.country.as_ref().and_then(|country| country.confidence.as_ref()))
        }
        Property::CountryInEuropeanUnion => is_in_union(&record.country),
        Property::CountryIsoCode => code(&record.country),
        Property::CountryName => name(&record.country),
        Property::ContinentCode => json!(record.continent.as_ref().and_then(|continent| continent.code)),
        Property::ContinentName => {
            json!(record.continent.as_ref().and_then(|continent| continent.names.as_ref()?.en))
        }
        Property::RegionIsoCode => {
            let country = record.country.as_ref().and_then(|country| country.iso_code);
            let parts = country.zip(region.and_then(|region| region.iso_code));
            json!(parts.map(|(country, region)| format!("{country}-{region}")))
        }
        Property::RegionName => json!(region.and_then(|region| region.names.as_ref()?.en)),
        Property::CityConfidence => json!(record.city.as_ref().and_then(|city| city.confidence.as_ref())),
        Property::CityName => json!(record.city.as_ref().and_then(|city| city.names.as_ref()?.en)),
        Property::Timezone => json!(location.and_then(|location| location.time_zone)),
        Property::AccuracyRadius => json!(location.and_then(|location| location.accuracy_radius.as_ref())),
        Property::Location => {
            match location.and_then(|location| location.latitude.as_ref().zip(location.longitude.as_ref())) {
                Some((lat, lon)) => json!({"lat": lat, "lon": lon}),
                None => Value::Null,
            }
        }
        Property::Asn => json!(traits.autonomous_system_number),
        Property::OrganizationName => json!(traits.autonomous_system_organization),
        Property::HostingProvider => json!(traits.is_hosting_provider.unwrap_or(false)),
        Property::TorExitNode => json!(traits.is_tor_exit_node.unwrap_or(false)),
        Property::AnonymousVpn => json!(traits.is_anonymous_vpn.unwrap_or(false)),
        Property::Anonymous => json!(traits.is_anonymous.unwrap_or(false)),
        Property::PublicProxy => json!(traits.is_public_proxy.unwrap_or(false)),
        Property::ResidentialProxy => json!(traits.is_residential_proxy.unwrap_or(false)),
        Property::Domain => json!(traits.domain),
        Property::Isp => json!(traits.isp),
        Property::IspOrganizationName => json!(traits.organization),
        Property::MobileCountryCode => json!(traits.mobile_country_code),
        Property::MobileNetworkCode => json!(traits.mobile_network_code),
        Property::UserType => json!(traits.user_type),
        Property::ConnectionType => json!(traits.connection_type),
        Property::PostalCode => json!(record.postal.as_ref().and_then(|postal| postal.code)),
        Property::PostalConfidence => {
            json!(record.postal.as_ref().and_then(|postal| postal.confidence.as_ref()))
        }
        Property::RegisteredCountryInEuropeanUnion => is_in_union(&record.registered_country),
        Property::RegisteredCountryIsoCode => code(&record.registered_country),
        Property::RegisteredCountryName => name(&record.registered_country),
    }
}
