import Chassis

// The variables about Apple that several services share: trusted roots, apps, and access to Apple's API.

extension Variable where Value == String {
    /// The apps of this deployment.
    package static var appsFile: Variable {
        .path(
            "STOREKEEPER_APPS_FILE",
            #"JSON file of the apps: [{"bundleId": "…", "appAppleId": 1, "environments": ["Production", "Sandbox"]}]"#)
    }

    /// The App Store Server API keys.
    package static var apiKeysFile: Variable {
        .path(
            "STOREKEEPER_APP_STORE_API_KEYS_FILE",
            #"JSON file of App Store Server API keys: [{"bundleId", "issuerId", "keyId", "privateKeyFile"}]; two for one "#
                + "app during a rotation")
    }

    /// The URL of a simulated API.
    package static var apiURL: Variable {
        .string(
            "STOREKEEPER_APP_STORE_API_URL",
            "URL of a simulated API; http:// only on this machine or in development mode")
    }
}

extension Variable where Value == [String] {
    /// Trusted roots beside Apple's.
    package static var rootFiles: Variable {
        .list(
            "STOREKEEPER_ROOT_FILES",
            "additional trusted roots, DER or PEM files; Apple Root CA - G3 is always trusted, development roots only in "
                + "development mode")
    }
}

extension Variable where Value == Bool {
    /// Whether free test purchases are accepted.
    package static var developmentMode: Variable {
        .bool(
            "STOREKEEPER_DEVELOPMENT_MODE", "accept Xcode, LocalTesting and development roots; never in production",
            default: "false")
    }
}

extension Variable where Value == Double {
    /// The share of Apple's rate limits for this process: Apple counts all processes of an app together.
    package static func apiLimitShare(default text: String) -> Variable {
        .double(
            "STOREKEEPER_APP_STORE_API_LIMIT_SHARE",
            "maximum share of Apple's rate limits for this process; the sum over all processes should be at most 1",
            default: text, in: 0.01...1)
    }
}
