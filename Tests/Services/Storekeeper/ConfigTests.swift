import Testing

@testable import Storekeeper

struct ConfigTests {
    @Test func `everything is shown but what is secret`() async {
        let environment = [
            "DATABASE_URL": "postgres://keeper:hunter2@db:5432/store", "KAFKA_BOOTSTRAP_SERVERS": "k1:9092",
            "KAFKA_SASL_PASSWORD": "hunter2", "STOREKEEPER_DATABASE_SCHEMA": "",
        ]
        for format in [[], ["--json"]] {
            let outcome = await CommandOutcome.of(["config"] + format, environment: environment)
            #expect(outcome.code == 0, "\(outcome.complaint)")
            #expect(!outcome.text.contains("hunter2"))
            for shown in ["postgres://keeper:(hidden)@db:5432/store", "k1:9092", "KAFKA_SASL_PASSWORD", "public"] {
                #expect(outcome.text.contains(shown), "\(shown)")
            }
        }
        #expect(!VariableRow.redacted("host=db password=hunter2").contains("hunter2"))
    }

    @Test func `what cannot be used is said with exit 78`() async {
        let outcome = await CommandOutcome.of(
            ["config"], environment: ["KAFKA_BOOTSTRAP_SERVERS": "k1:9092", "KAFKA_NO_SUCH_THING": "1"])
        #expect(outcome.code == 78)
        #expect(outcome.complaint.contains("no.such.thing"))
    }
}
