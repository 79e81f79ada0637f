/// Where the database is and how a process wants to be treated there.
public struct PostgresConfiguration: Sendable {
    /// `postgres://…` or `key=value …`, passed to libpq as it is: `sslmode`, `sslrootcert`, several hosts and
    /// `target_session_attrs` work. May hold a password, therefore it is printed nowhere.
    public var url: String
    /// Shown in `pg_stat_activity` and in the server's log.
    public var applicationName: String
    /// A file that holds the password and nothing else; it outweighs the URL's. Read at each connect, so that a
    /// rotated password needs no restart.
    public var passwordFile: String?
    /// The schema of our tables; becomes `search_path`.
    public var schema: String
    /// Per host of the URL. libpq counts in whole seconds and takes 1 for 2.
    public var connectTimeout: Duration
    /// Longest duration of a statement; nil leaves the role's setting.
    public var statementTimeout: Duration?
    /// Longest wait for a row or table lock; nil leaves the role's setting.
    public var lockTimeout: Duration?
    /// Maximum idle time of an open transaction; nil leaves the role's setting.
    public var idleInTransactionTimeout: Duration?

    /// How long the server may say nothing while an answer is due, after which the connection is given up: a server that stands still
    /// observes no timeout of its own. Nil is ten seconds more than ``statementTimeout``, and without limit where that is nil.
    public var answerTimeout: Duration?

    /// Whether a prepared statement is planned once, for values that are not known; else Postgres decides. For short statements whose plan does
    /// not depend on the values: planning what an account may use took 1.6 ms of 1.8, and a fifth of the server's time for
    /// small batches of notifications.
    public var plansOnce = false

    /// With the defaults of a service.
    public init(
        url: String, applicationName: String, passwordFile: String? = nil, schema: String = "public",
        connectTimeout: Duration = .seconds(5), statementTimeout: Duration? = .seconds(30),
        lockTimeout: Duration? = .seconds(10), idleInTransactionTimeout: Duration? = .seconds(60)
    ) {
        self.url = url
        self.applicationName = applicationName
        self.passwordFile = passwordFile
        self.schema = schema
        self.connectTimeout = connectTimeout
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.idleInTransactionTimeout = idleInTransactionTimeout
    }
}

extension PostgresConfiguration: CustomStringConvertible {
    /// Without the URL, because of its password.
    public var description: String { "Postgres as \(applicationName), schema \(schema)" }
}

extension PostgresConfiguration {
    /// How an address looks; finishes the sentence "… is not …".
    public static let addressForm = "postgres://user@host:port/name, nor libpq's keyword=value"
    /// How a schema's name looks; likewise.
    public static let schemaForm = "a schema name of lower-case letters, digits and underscores"

    /// Whether libpq takes a text for a whole address. What is neither form it takes for the name of a database at the
    /// local socket, so that a typo would look like a server that is down.
    public static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
            || text.prefixMatch(of: #/\s*[a-z_]+\s*=/#) != nil
    }

    /// Whether a text can stand in `search_path` as it is.
    public static func isSchemaName(_ text: String) -> Bool { text.wholeMatch(of: #/[a-z_][a-z0-9_]*/#) != nil }

    /// libpq takes the last of several equal keywords: what stands before `dbname` (the URL) is a default, what stands
    /// after it is not for the URL to decide.
    func connectionParameters() throws(PostgresError) -> [(keyword: String, value: String)] {
        guard !url.utf8.contains(0) else {
            throw PostgresError(.programming, "the database URL holds a NUL byte; remove it")
        }
        var parameters: [(String, String)] = [
            ("connect_timeout", String(max(1, connectTimeout.components.seconds))),
            // A peer that vanished without a word is noticed after half a minute instead of two hours.
            ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "30000"),
            ("fallback_application_name", applicationName),
            ("dbname", url),
            ("application_name", applicationName),
            ("client_encoding", "UTF8"),
        ]
        if let passwordFile { parameters.append(("password", try Self.password(from: passwordFile))) }
        return parameters
    }

    /// Sent after connecting instead of as `options`, which would replace the URL's own `options`.
    func sessionSettings() throws(PostgresError) -> [(name: String, value: String)] {
        guard Self.isSchemaName(schema) else {
            throw PostgresError(.programming, "“\(schema)” is not \(Self.schemaForm)")
        }
        // Compiling takes longer than any of our statements: a question about one customer took 500 ms instead of 3.
        var settings = [("search_path", schema), ("client_min_messages", "warning"), ("jit", "off")]
        if plansOnce {
            settings.append(("plan_cache_mode", "force_generic_plan"))
            // The one plan may be made while a table is empty and reading all of it is cheapest; it is kept when it no longer is.
            settings.append(("enable_seqscan", "off"))
        }
        if let statementTimeout { settings.append(("statement_timeout", statementTimeout.wholeMilliseconds)) }
        if let lockTimeout { settings.append(("lock_timeout", lockTimeout.wholeMilliseconds)) }
        if let idleInTransactionTimeout {
            settings.append(("idle_in_transaction_session_timeout", idleInTransactionTimeout.wholeMilliseconds))
        }
        return settings
    }
}

extension PostgresConfiguration {
    var effectiveAnswerTimeout: Duration? { answerTimeout ?? statementTimeout.map { $0 + .seconds(10) } }

    /// For a question about the server's sessions while another connection waits.
    var hasty: PostgresConfiguration {
        var hasty = self
        hasty.connectTimeout = .seconds(2)
        hasty.statementTimeout = .seconds(1)
        hasty.answerTimeout = .seconds(2)
        return hasty
    }
}

extension Duration {
    /// At least 1, because 0 would switch a timeout off.
    fileprivate var wholeMilliseconds: String {
        String(max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000))
    }
}
