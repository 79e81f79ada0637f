import Contracts
import Kafka
import Storage

/// Compares the broker and the database with what this release expects, and changes nothing.
struct Check {
    let admin: KafkaAdmin
    let replicationFactor: Int
    let accessControl: AccessControl?
    let migrator: Migrator
    let grants: Grants
    let audit: PrivilegeAudit

    /// One row per difference: object, property, expected, found, what to do.
    func rows() async throws -> [[String]] {
        try await topics() + acls() + database()
    }

    /// The brokers tell each other of new ACLs with a delay. By principal: a service has ten, and they are granted together.
    private func acls() async throws -> [[String]] {
        let missing = Dictionary(grouping: try await accessControl?.settled() ?? [], by: \.principal)
        return missing.sorted { $0.key < $1.key }.map {
            ["brokers", "ACLs", "of \($0.key)", "\($0.value.count) are missing", "setup grants them"]
        }
    }

    private func topics() async throws -> [[String]] {
        let specifications = Topics.all.map { TopicSpecification($0, replicationFactor: replicationFactor) }
        let states = try await admin.states(of: specifications.map(\.name))
        return specifications.flatMap { specification -> [[String]] in
            guard let state = states[specification.name] else {
                return [[specification.name, "topic", "exists", "missing", "setup creates it"]]
            }
            return TopicDifference.all(specification, state).map(\.row)
        }
    }

    private func database() async throws -> [[String]] {
        do {
            try await migrator.check(acceptsNewer: false)
        } catch Migrator.Failure.missing(let versions) {
            let missing = versions.map(String.init).joined(separator: ", ")
            return [["database", "schema", "of this build", "migrations \(missing) are missing", "setup applies them"]]
        } catch let failure as Migrator.Failure {
            return [["database", "schema", "of this build", "another one", "\(failure)"]]
        }
        let changed = try await grants.differences().map {
            ["database", "grants", "of this build", $0, "setup grants"]
        }
        return changed
            + (try await audit.findings().map { ["database", "privilege", "closed", $0.problem, $0.remedy] })
    }
}

/// The result of `setup --check`; the table is printed before.
struct SetupDiffers: Error, CustomStringConvertible {
    var count: Int

    var description: String {
        "\(count) settings differ from the expected ones; run setup, and the commands it cannot run"
    }
}

/// Rows below a heading, in columns as wide as their widest cell.
func tableText(_ rows: [[String]]) -> String {
    let all = [["what", "setting", "meant", "found", "remedy"]] + rows
    let widths = all[0].indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
        let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
        return String(cells.reversed().drop { $0 == " " }.reversed()) + "\n"
    }.joined()
}
