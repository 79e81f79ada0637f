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
    /// The share of Apple's rate limits for all services, which share it through Postgres: Apple counts all processes of an app
    /// together.
    package static var apiLimitShare: Variable {
        .double(
            "STOREKEEPER_APP_STORE_API_LIMIT_SHARE",
            "maximum share of Apple's rate limits for all services together, the same for each; the command line has 0.1 of "
                + "its own", default: "0.9", in: 0.01...1)
    }

    /// The share of a process without a database, which the services leave to it.
    package static var apiLimitShareOfCommandLine: Variable {
        .double(
            "STOREKEEPER_APP_STORE_API_LIMIT_SHARE",
            "maximum share of Apple's rate limits for this process; the services have 0.9", default: "0.1",
            in: 0.01...1)
    }
}
