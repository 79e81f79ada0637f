import Testing

@testable import Storekeeper

struct ConfigTests {
    @Test func `config shows everything except secrets`() async {
        let environment = [
            "DATABASE_URL": "postgres://keeper:hunter2@db:5432/store", "KAFKA_BOOTSTRAP_SERVERS": "k1:9092",
            "KAFKA_SASL_PASSWORD": "hunter2", "STOREKEEPER_DATABASE_SCHEMA": "",
        ]
        for format in [[], ["--json"]] {
            let outcome = await CommandOutcome.of(["config"] + format, environment: environment)
            #expect(outcome.code == 0, "\(outcome.errorOutput)")
            #expect(!outcome.text.contains("hunter2"))
            for shown in ["postgres://keeper:(hidden)@db:5432/store", "k1:9092", "KAFKA_SASL_PASSWORD", "public"] {
                #expect(outcome.text.contains(shown), "\(shown)")
            }
        }
    }

    @Test func `config shows the source of each value`() async throws {
        struct Row: Decodable, Equatable {
            var name: String
            var value: String?
            var isDefault: Bool
        }
        let environment = ["DATABASE_URL": "host=db password=hunter2", "KAFKA_LINGER_MS": "1"]
        let rows = try await CommandOutcome.of(["config", "--json"], environment: environment).json(as: [Row].self)
        #expect(rows.contains(Row(name: "DATABASE_URL", value: "(hidden)", isDefault: false)))
        #expect(rows.contains(Row(name: "STOREKEEPER_DATABASE_SCHEMA", value: "public", isDefault: true)))
        #expect(rows.contains(Row(name: "KAFKA_*", value: "KAFKA_LINGER_MS", isDefault: false)))
        #expect(rows.contains(Row(name: "STOREKEEPER_APPS_FILE", value: nil, isDefault: true)))
    }

    @Test func `config exits 78 with what cannot be used`() async {
        let outcome = await CommandOutcome.of(
            ["config"], environment: ["KAFKA_BOOTSTRAP_SERVERS": "k1:9092", "KAFKA_NO_SUCH_THING": "1"])
        #expect(outcome.code == 78)
        #expect(outcome.errorOutput.contains("no.such.thing"))
    }

    @Test func `config reports all problems at once, and an empty variable counts as unset`() async {
        let outcome = await CommandOutcome.of(
            ["config"],
            environment: [
                "KAFKA_BOOTSTRAP_SERVERS": "k1:9092", "KAFKA_NO_SUCH_THING": "1",
                "STOREKEEPER_APP_STORE_API_KEYS_FILE": "/none/keys", "STOREKEEPER_APPS_FILE": "/none/apps",
            ])
        #expect(outcome.code == 78)
        for problem in ["no.such.thing", "/none/apps"] { #expect(outcome.errorOutput.contains(problem), "\(problem)") }
        let empty = ["DATABASE_URL": "", "KAFKA_BOOTSTRAP_SERVERS": "", "STOREKEEPER_APP_STORE_API_KEYS_FILE": ""]
        #expect(await CommandOutcome.of(["config"], environment: empty).code == 0)
    }
}
