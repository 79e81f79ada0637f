import Chassis

// What several processes are told about Apple: whom to trust, which apps are ours, and how to call its API.

extension Variable where Value == String {
    /// The apps of this deployment.
    public static var appsFile: Variable {
        .path(
            "STOREKEEPER_APPS_FILE",
            #"JSON file of our apps: [{"bundleId": "…", "appAppleId": 1, "environments": ["Production", "Sandbox"]}]"#)
    }

    /// The keys of App Store Connect.
    public static var apiKeysFile: Variable {
        .path(
            "STOREKEEPER_API_KEYS_FILE",
            #"JSON file of the keys for Apple's API: [{"bundleId", "issuerId", "keyId", "privateKeyFile"}]; two for one app "#
                + "are a rotation")
    }

    /// The simulator's address.
    public static var apiURL: Variable {
        .string(
            "STOREKEEPER_API_URL",
            "address of a simulator in the place of Apple's API; http:// only to this machine or in development mode")
    }
}

extension Variable where Value == [String] {
    /// Whom to trust beside Apple.
    public static var rootFiles: Variable {
        .list(
            "STOREKEEPER_ROOT_FILES",
            "further trusted roots, DER or PEM files; Apple Root CA - G3 is always trusted, the simulator's only in "
                + "development mode")
    }
}

extension Variable where Value == Bool {
    /// Whether purchases that cost nothing are believed.
    public static var developmentMode: Variable {
        .bool(
            "STOREKEEPER_DEVELOPMENT_MODE", "accept Xcode, LocalTesting and development roots; never in production",
            default: "false")
    }
}

extension Variable where Value == Double {
    /// What this process may use up of what Apple allows: for Apple all processes of an app count together.
    public static func apiLimitShare(default text: String) -> Variable {
        .double(
            "STOREKEEPER_API_LIMIT_SHARE",
            "part of Apple's request limits that this process uses at most; what all running processes use together should "
                + "not be more than 1",
            default: text, in: 0.01...1)
    }
}
