import Testing

@testable import Chassis

private struct Table: VariableTable {
    let needed = Variable.string("STOREKEEPER_TEST_NEEDED", "what it cannot do without")
    let database = Variable.url("STOREKEEPER_TEST_DATABASE", "the books", default: "postgres://me:hush@localhost/books")
    let file = Variable.path("STOREKEEPER_TEST_FILE", "a file").optional
    let library = Variable.passedThrough(prefix: "LIBRARY_", "for the library")
}

@Suite struct HelpTextTests {
    private let help = HelpText(
        name: "tester", summary: "Tests.", own: Table().variables,
        common: CommonVariables(adminAddress: "127.0.0.1:9100").variables)

    @Test func `Help lists every variable with its meaning and whether it is required`() {
        let manual = help.manual
        #expect(manual.hasPrefix("tester \(BuildInformation.version)\nTests.\n"))
        #expect(manual.contains("  STOREKEEPER_TEST_NEEDED  (required)\n      what it cannot do without\n"))
        #expect(manual.contains("  STOREKEEPER_TEST_FILE  (optional)\n"))
        #expect(manual.contains("  STOREKEEPER_ADMIN_ADDRESS  (default 127.0.0.1:9100)\n"))
        for variable in Table().variables + CommonVariables(adminAddress: "").variables {
            #expect(manual.contains("  \(variable.name)  ("))
        }
    }

    @Test func `Effective configuration shows defaults and values but no passwords`() {
        let shown = help.effectiveConfiguration(
            in: EnvironmentReader([
                "STOREKEEPER_TEST_NEEDED": "here", "LIBRARY_B": "hush", "LIBRARY_A": "hush",
                "STOREKEEPER_LOG_LEVEL": "debug",
            ]))
        #expect(shown.contains("STOREKEEPER_TEST_NEEDED=here\n"))
        #expect(shown.contains("STOREKEEPER_TEST_DATABASE=postgres://me:(hidden)@localhost/books\n"))
        #expect(shown.contains("# STOREKEEPER_TEST_FILE is not set\n"))
        #expect(shown.contains("# LIBRARY_*: LIBRARY_A, LIBRARY_B\n"))
        #expect(shown.contains("STOREKEEPER_LOG_LEVEL=debug\n"))
        #expect(!shown.contains("hush"))
    }
}
