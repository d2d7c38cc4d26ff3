//! The properties that a processor can show from each kind of database. Source: Elasticsearch's `Database`
//! and `Database.Property`.

/// A kind of database, recognized by the end of `database_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    /// GeoIP2 Anonymous IP.
    AnonymousIp,
    /// GeoLite2 ASN.
    Asn,
    /// GeoLite2 and GeoIP2 City.
    City,
    /// GeoIP2 Connection Type.
    ConnectionType,
    /// GeoLite2 and GeoIP2 Country.
    Country,
    /// GeoIP2 Domain.
    Domain,
    /// GeoIP2 Enterprise.
    Enterprise,
    /// GeoIP2 ISP.
    Isp,
}

/// A property, in the order in which errors list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    Ip,
    CountryConfidence,
    CountryInEuropeanUnion,
    CountryIsoCode,
    CountryName,
    ContinentCode,
    ContinentName,
    RegionIsoCode,
    RegionName,
    CityConfidence,
    CityName,
    Timezone,
    AccuracyRadius,
    Location,
    Asn,
    OrganizationName,
    Network,
    HostingProvider,
    TorExitNode,
    AnonymousVpn,
    Anonymous,
    PublicProxy,
    ResidentialProxy,
    Domain,
    Isp,
    IspOrganizationName,
    MobileCountryCode,
    MobileNetworkCode,
    UserType,
    ConnectionType,
    PostalCode,
    PostalConfidence,
    RegisteredCountryInEuropeanUnion,
    RegisteredCountryIsoCode,
    RegisteredCountryName,
}

use Property::*;

/// Every property by its name in the document.
const NAMES: [(Property, &str); 35] = [
    (Ip, "ip"),
    (CountryConfidence, "country_confidence"),
    (CountryInEuropeanUnion, "country_in_european_union"),
    (CountryIsoCode, "country_iso_code"),
    (CountryName, "country_name"),
    (ContinentCode, "continent_code"),
    (ContinentName, "continent_name"),
    (RegionIsoCode, "region_iso_code"),
    (RegionName, "region_name"),
    (CityConfidence, "city_confidence"),
    (CityName, "city_name"),
    (Timezone, "timezone"),
    (AccuracyRadius, "accuracy_radius"),
    (Location, "location"),
    (Asn, "asn"),
    (OrganizationName, "organization_name"),
    (Network, "network"),
    (HostingProvider, "hosting_provider"),
    (TorExitNode, "tor_exit_node"),
    (AnonymousVpn, "anonymous_vpn"),
    (Anonymous, "anonymous"),
    (PublicProxy, "public_proxy"),
    (ResidentialProxy, "residential_proxy"),
    (Domain, "domain"),
    (Isp, "isp"),
    (IspOrganizationName, "isp_organization_name"),
    (MobileCountryCode, "mobile_country_code"),
    (MobileNetworkCode, "mobile_network_code"),
    (UserType, "user_type"),
    (ConnectionType, "connection_type"),
    (PostalCode, "postal_code"),
    (PostalConfidence, "postal_confidence"),
    (RegisteredCountryInEuropeanUnion, "registered_country_in_european_union"),
    (RegisteredCountryIsoCode, "registered_country_iso_code"),
    (RegisteredCountryName, "registered_country_name"),
];

const CITY: &[Property] = &[
    Ip,
    CountryInEuropeanUnion,
    CountryIsoCode,
    CountryName,
    ContinentCode,
    ContinentName,
    RegionIsoCode,
    RegionName,
    CityName,
    Timezone,
    Location,
    PostalCode,
    AccuracyRadius,
    RegisteredCountryInEuropeanUnion,
    RegisteredCountryIsoCode,
    RegisteredCountryName,
];
const CITY_SHOWN: &[Property] =
    &[CountryIsoCode, CountryName, ContinentName, RegionIsoCode, RegionName, CityName, Location];
const COUNTRY: &[Property] = &[
    Ip,
    ContinentCode,
    ContinentName,
    CountryName,
    CountryInEuropeanUnion,
    CountryIsoCode,
    RegisteredCountryInEuropeanUnion,
    RegisteredCountryIsoCode,
    RegisteredCountryName,
];
const ANONYMOUS_SHOWN: &[Property] =
    &[HostingProvider, TorExitNode, AnonymousVpn, Anonymous, PublicProxy, ResidentialProxy];
const ISP: &[Property] =
    &[Ip, Asn, OrganizationName, Network, Isp, IspOrganizationName, MobileCountryCode, MobileNetworkCode];

impl Property {
    /// Returns the name that pipelines and documents use.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(property, _)| *property == self).map_or("", |(_, name)| name)
    }

    /// Finds a property by its name, ignoring case, if databases of this kind have it.
    pub fn parse(name: &str, kind: DatabaseKind) -> Option<Property> {
        let found = NAMES.iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
        found.map(|(property, _)| *property).filter(|property| kind.properties().contains(property))
    }
}

impl DatabaseKind {
    /// Finds the kind by the end of a database's type; `None` for a type that processors do not know.
    pub fn of(database_type: &str) -> Option<DatabaseKind> {
        const ENDS: [(&str, DatabaseKind); 8] = [
            ("-Anonymous-IP", DatabaseKind::AnonymousIp),
            ("-ASN", DatabaseKind::Asn),
            ("-City", DatabaseKind::City),
            ("-Connection-Type", DatabaseKind::ConnectionType),
            ("-Country", DatabaseKind::Country),
            ("-Domain", DatabaseKind::Domain),
            ("-Enterprise", DatabaseKind::Enterprise),
            ("-ISP", DatabaseKind::Isp),
        ];
        ENDS.iter().find(|(end, _)| database_type.ends_with(end)).map(|(_, kind)| *kind)
    }

    /// Returns the properties that may be requested.
    pub fn properties(self) -> &'static [Property] {
        const ALL: [Property; 35] = {
            let mut all = [Ip; 35];
            let mut at = 0;
            while at < 35 {
                all[at] = NAMES[at].0;
                at += 1;
            }
            all
        };
        match self {
            DatabaseKind::AnonymousIp => {
                &[Ip, HostingProvider, TorExitNode, AnonymousVpn, Anonymous, PublicProxy, ResidentialProxy]
            }
            DatabaseKind::Asn => &[Ip, Asn, OrganizationName, Network],
            DatabaseKind::City => CITY,
            DatabaseKind::ConnectionType => &[Ip, ConnectionType],
            DatabaseKind::Country => COUNTRY,
            DatabaseKind::Domain => &[Ip, Domain],
            DatabaseKind::Enterprise => &ALL,
            DatabaseKind::Isp => ISP,
        }
    }

    /// Returns the properties that are shown when none are requested.
    pub fn shown(self) -> &'static [Property] {
        match self {
            DatabaseKind::City | DatabaseKind::Enterprise => CITY_SHOWN,
            DatabaseKind::Country => &[ContinentName, CountryName, CountryIsoCode],
            DatabaseKind::AnonymousIp => ANONYMOUS_SHOWN,
            DatabaseKind::Asn => &[Ip, Asn, OrganizationName, Network],
            DatabaseKind::ConnectionType => &[ConnectionType],
            DatabaseKind::Domain => &[Domain],
            DatabaseKind::Isp => ISP,
        }
    }
}
