import Postgres

extension String {
    /// As one word of a shell.
    package var shellQuoted: String { quoted(by: "'", within: #"'\''"#) }
}
