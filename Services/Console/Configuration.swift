import Bootstrap
import Chassis
import OpenIDConnect
import Pipeline

/// The variables of the console.
struct Configuration: KafkaVariables, DatabaseVariables {
    let address = Variable.address(
        "STOREKEEPER_CONSOLE_ADDRESS", "where browsers, or the proxy in front of them, connect",
        default: "127.0.0.1:8082")
    let origin = Variable<Origin>.parsed(
        "STOREKEEPER_CONSOLE_URL",
        "address of the console as browsers see it, such as https://console.example.org; without it the console does not start",
        expected: "https://host without a path; http:// only on this machine", parse: Origin.init)
    let portFile = Variable.path(
        "STOREKEEPER_CONSOLE_PORT_FILE", "file to write the port to, once it listens"
    ).optional
    let proxies = Variable.list(
        "STOREKEEPER_CONSOLE_PROXIES",
        "addresses of proxies that sign people in; only their header is trusted. They must remove the header from what "
            + "clients send"
    ).optional
    let userHeader = Variable.string(
        "STOREKEEPER_CONSOLE_USER_HEADER", "header in which a proxy names the person", default: "X-Forwarded-User")
    let proxyRoles = Variable<[String: Role]>.parsed(
        "STOREKEEPER_CONSOLE_PROXY_ROLES",
        "roles of people whom a proxy signs in, NAME=ROLE separated by commas; *=ROLE for all others, who are rejected without it",
        default: "*=viewer", expected: "NAME=ROLE separated by commas, with the roles viewer, support, operator, admin",
        parse: Role.table)
    let issuer = Variable<String>.parsed(
        "STOREKEEPER_CONSOLE_OIDC_ISSUER",
        "issuer of the OpenID provider that signs people in, exactly as its tokens name it",
        expected: "an https address", parse: { ProviderAddress.isSafe($0) ? $0 : nil }
    ).optional
    let clientId = Variable.string(
        "STOREKEEPER_CONSOLE_OIDC_CLIENT_ID",
        "the console's client id at the provider; its redirect address is STOREKEEPER_CONSOLE_URL and /sign-in/callback"
    ).optional
    let clientSecretFile = Variable.path(
        "STOREKEEPER_CONSOLE_OIDC_CLIENT_SECRET_FILE", "file that holds the client's secret, for clients that have one"
    ).optional
    let scopes = Variable.string(
        "STOREKEEPER_CONSOLE_OIDC_SCOPES", "scopes to ask the provider for", default: "openid email")
    let nameClaim = Variable.string(
        "STOREKEEPER_CONSOLE_OIDC_NAME_CLAIM", "claim of the ID token with the person's name for the audit log",
        default: "email")
    let roleClaim = Variable.string(
        "STOREKEEPER_CONSOLE_OIDC_ROLE_CLAIM",
        "claim of the ID token that decides the role, a text or a list; a path such as realm_access.roles",
        default: "groups")
    let providerRoles = Variable<[String: Role]>.parsed(
        "STOREKEEPER_CONSOLE_OIDC_ROLES",
        "roles of the values of that claim, VALUE=ROLE separated by commas; the highest counts, *=ROLE is for all others, who are "
            + "rejected without it",
        expected: "VALUE=ROLE separated by commas, with the roles viewer, support, operator, admin", parse: Role.table
    ).optional
    let session = Variable.duration(
        "STOREKEEPER_CONSOLE_SESSION", "how long a person stays signed in", default: "12h")
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let databaseConnections = Variable.int(
        "STOREKEEPER_CONSOLE_DATABASE_CONNECTIONS", "connections to Postgres, shared by all requests", default: "4",
        in: 1...64)
    let queryTimeout = Variable.duration(
        "STOREKEEPER_CONSOLE_QUERY_TIMEOUT", "longest duration of a query; the page says so where one takes longer",
        default: "5s")
    let brokers = Variable.kafkaBrokers
    let kafkaSettings = Variable.kafkaSettings
    let recordKeys = Variable<String?>.recordKeys
    let apps = Variable.appsFile.optional
    let roots = Variable.rootFiles.optional
    let developmentMode = Variable.developmentMode
    let apiKeys = Variable.apiKeysFile.optional
    let apiURL = Variable.apiURL.optional
    let apiLimitShare = Variable.apiLimitShare
    let statusInterval = Variable.duration(
        "STOREKEEPER_CONSOLE_STATUS_INTERVAL", "how often the pipeline is looked at", default: "10s")
}
