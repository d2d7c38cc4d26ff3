//! The type of a device: "is this a phone, a tablet or a desktop computer?"

use super::details::Details;

const DESKTOPS: [&str; 14] = [
    "Windows",
    "Mac OS X",
    "Mac OS",
    "Linux",
    "Chrome OS",
    "Ubuntu",
    "Fedora",
    "Debian",
    "Red Hat",
    "SUSE",
    "CentOS",
    "FreeBSD",
    "OpenBSD",
    "Solaris",
];

const PHONES: [&str; 9] = [
    "iOS",
    "Windows Phone",
    "Windows Mobile",
    "BlackBerry OS",
    "Symbian OS",
    "Firefox OS",
    "KaiOS",
    "Bada",
    "MeeGo",
];

const TABLETS: [&str; 8] = ["iPad", "Tablet", "Kindle", "PlayBook", "Nexus 7", "Nexus 9", "Nexus 10", "SM-T"];

impl Details {
    /// Returns `Robot`, `Tablet`, `Phone`, `Desktop` or `Other`. Judges by the device, then by the system,
    /// then by the word that phones put into the header.
    pub fn device_type(&self, header: &str) -> &'static str {
        let device = self.device.as_deref().unwrap_or_default();
        let lower = header.to_ascii_lowercase();
        if device == "Spider" || ["bot/", "bot;", "crawler", "spider"].iter().any(|word| lower.contains(word))
        {
            return "Robot";
        }
        if TABLETS.iter().any(|tablet| device.contains(tablet)) || lower.contains("tablet") {
            return "Tablet";
        }
        let is_mobile = lower.contains("mobile");
        match self.os.as_ref().map(|os| os.name.as_str()) {
            Some("Android") if is_mobile => "Phone",
            Some("Android") if lower.contains("tv") => "Other",
            Some("Android") => "Tablet",
            Some(os) if PHONES.contains(&os) => "Phone",
            Some(os) if DESKTOPS.contains(&os) && !is_mobile => "Desktop",
            _ if is_mobile => "Phone",
            _ => "Other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DEFAULT, Parsers};

    #[test]
    fn kinds_of_devices() {
        let parser = Parsers::default().get(DEFAULT).expect("built in").expect("sound");
        for (header, expected) in [
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/120.0.0.0 Safari/537.36",
                "Desktop",
            ),
            ("Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0", "Desktop"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 12_2 like Mac OS X) Version/12.1 Mobile/15E148 Safari/604.1",
                "Phone",
            ),
            (
                "Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X) Version/12.1 Mobile/15E148 Safari/604.1",
                "Tablet",
            ),
            ("Mozilla/5.0 (Linux; Android 10; SM-G973F) Chrome/83.0.4103.101 Mobile Safari/537.36", "Phone"),
            ("Mozilla/5.0 (Linux; Android 9; SM-T720) Chrome/86.0.4240.198 Safari/537.36", "Tablet"),
            ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Robot"),
            ("curl/7.64.1", "Other"),
            ("", "Other"),
        ] {
            assert_eq!(parser.details(header).device_type(header), expected, "{header}");
        }
    }
}
