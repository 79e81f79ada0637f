import Foundation

/// Where this machine keeps `initdb` and `postgres`.
struct PostgresPrograms: Sendable {
    let initdb: String
    let postgres: String

    /// Looks where Debian, Red Hat and Homebrew put them, newest version first, then in `PATH`.
    static func find() throws(DevelopmentPostgres.Failure) -> PostgresPrograms {
        var candidates: [String] = []
        for parent in ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"] {
            let versions = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
            let numbered = versions.compactMap { name -> (version: Int, path: String)? in
                let number = name.hasPrefix("postgresql@") ? String(name.dropFirst(11)) : name
                return Int(number).map { ($0, "\(parent)/\(name)/bin") }
            }
            candidates += numbered.filter { $0.version >= 15 }.sorted { $0.version > $1.version }.map(\.path)
        }
        candidates += (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        for directory in candidates {
            let programs = PostgresPrograms(initdb: directory + "/initdb", postgres: directory + "/postgres")
            if FileManager.default.isExecutableFile(atPath: programs.initdb),
                FileManager.default.isExecutableFile(atPath: programs.postgres)
            {
                return programs
            }
        }
        throw DevelopmentPostgres.Failure(
            description: "Postgres 15 or newer is not installed here. "
                + "Debian and Ubuntu: apt-get install postgresql; macOS: brew install postgresql@16")
    }
}
