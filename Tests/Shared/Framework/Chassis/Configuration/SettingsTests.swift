import Foundation
import TestSupport
import Testing

@testable import Chassis

private struct Table: VariableTable {
    let address = Variable.address("STOREKEEPER_TEST_ADDRESS", "where to listen", default: "127.0.0.1:8080")
    let brokers = Variable.string("TEST_BROKERS", "the brokers")
    let wait = Variable.duration("STOREKEEPER_TEST_WAIT", "how long to wait", default: "5s")
    let file = Variable.path("STOREKEEPER_TEST_FILE", "a file").optional
    let library = Variable.passedThrough(prefix: "LIBRARY_", "for the library")
}

private struct Ruled: VariableTable {
    let lower = Variable.int("STOREKEEPER_TEST_LOWER", "lower end", default: "1", in: 0...100)
    let upper = Variable.int("STOREKEEPER_TEST_UPPER", "upper end", default: "2", in: 0...100)

    func problems(in settings: Settings<Ruled>) -> [ConfigurationProblem] {
        settings.lower < settings.upper ? [] : [ConfigurationProblem("lower has to be below upper")]
    }
}

private func problems<Table: VariableTable>(_ table: Table, _ environment: [String: String]) -> [String] {
    do throws(ConfigurationProblems) {
        _ = try Settings(table, environment: environment)
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

private struct Aged: VariableTable {
    let old = Variable.int("STOREKEEPER_TEST_OLD", "deprecated since 0.5: set STOREKEEPER_TEST_NEW", in: 0...9).optional
    let new = Variable.int("STOREKEEPER_TEST_NEW", "the newer name", default: "1", in: 0...9)
}

private struct Keys: VariableTable {
    let password = Variable.path("STOREKEEPER_TEST_PASSWORD_FILE", "a password").optional
    let apps = Variable.path("STOREKEEPER_TEST_APPS_FILE", "no secret").optional
    let library = Variable.passedThrough(prefix: "LIBRARY_", "for the library")
}

@Suite struct SettingsTests {
    @Test(arguments: [
        (0o600, false), (0o640, false), (0o444, false), (0o664, false), (0o666, true), (0o602, true), (0o777, true),
    ])
    func `Key file that every user may write is rejected`(mode: Int, isRejected: Bool) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let file = try directory.write("key", "x")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        for name in ["STOREKEEPER_TEST_PASSWORD_FILE", "LIBRARY_SSL_KEY_FILE"] {
            let found = problems(Keys(), [name: file])
            #expect(found.count == (isRejected ? 1 : 0), "\(found)")
            #expect(found.allSatisfy { $0.contains(name) && $0.contains(String(mode, radix: 8)) })
        }
        #expect(problems(Keys(), ["STOREKEEPER_TEST_APPS_FILE": file]).isEmpty)
        #expect(problems(Keys(), ["STOREKEEPER_TEST_PASSWORD_FILE": file + "-missing"]).isEmpty)
    }

    @Test func `Settings take values from the environment, or the default where there is one`() throws {
        let settings = try Settings(Table(), environment: ["TEST_BROKERS": "a:1", "STOREKEEPER_TEST_WAIT": "250ms"])
        #expect(settings.address == ListenAddress(host: "127.0.0.1", port: 8080))
        #expect(settings.brokers == "a:1")
        #expect(settings.wait == .milliseconds(250))
        #expect(settings.file == nil)
    }

    @Test func `Settings name a deprecated variable where it is set`() {
        func found(_ environment: [String: String]) -> [String] {
            Settings<Aged>.deprecated(in: EnvironmentReader(environment), declared: Aged().variables).map(\.name)
        }
        #expect(found(["STOREKEEPER_TEST_OLD": "1", "STOREKEEPER_TEST_NEW": "2"]) == ["STOREKEEPER_TEST_OLD"])
        #expect(found(["STOREKEEPER_TEST_NEW": "2"]).isEmpty)
    }

    @Test func `Settings have an optional variable's value when it is set`() throws {
        let settings = try Settings(
            Table(), environment: ["TEST_BROKERS": "a:1", "STOREKEEPER_TEST_FILE": "/tmp/port"])
        #expect(settings.file == "/tmp/port")
    }

    @Test func `Settings pass on everything with a passed-through prefix unchanged`() throws {
        let environment = ["TEST_BROKERS": "a:1", "LIBRARY_A": "1", "LIBRARY_B": " 2 ", "OTHER": "3"]
        let settings = try Settings(Table(), environment: environment)
        #expect(settings.library == ["LIBRARY_A": "1", "LIBRARY_B": " 2 "])
    }

    @Test func `Settings take an empty variable for one that is not set`() throws {
        let settings = try Settings(Table(), environment: ["TEST_BROKERS": "a:1", "STOREKEEPER_TEST_WAIT": ""])
        #expect(settings.wait == .seconds(5))
        #expect(
            problems(Table(), ["TEST_BROKERS": "  "]) == ["TEST_BROKERS is not set: the brokers. It has no default."])
    }

    @Test func `Settings collect all problems, in the order of the table`() {
        let found = problems(
            Table(), ["STOREKEEPER_TEST_ADDRESS": "8080", "STOREKEEPER_TEST_WAIT": "5"])
        #expect(found.count == 3)
        #expect(found[0].hasPrefix("STOREKEEPER_TEST_ADDRESS is \"8080\", which is not host:port"))
        #expect(found[1].hasPrefix("TEST_BROKERS is not set"))
        #expect(found[2].hasPrefix("STOREKEEPER_TEST_WAIT is \"5\""))
    }

    @Test func `Settings report a typo with a suggestion and never use a default for it`() {
        let found = problems(Table(), ["TEST_BROKERS": "a:1", "STOREKEEPER_TEST_WIAT": "9s"])
        #expect(
            found == ["STOREKEEPER_TEST_WIAT is not a variable of this service; did you mean STOREKEEPER_TEST_WAIT?"])
    }

    @Test func `Settings report an undeclared variable that resembles none`() {
        let found = problems(Table(), ["TEST_BROKERS": "a:1", "STOREKEEPER_QUITE_ELSEWHERE": "9s"])
        #expect(found.count == 1)
        #expect(found.first?.contains("did you mean") == false)
    }

    @Test func `Settings check rules across variables only when each variable is readable`() {
        #expect(problems(Ruled(), ["STOREKEEPER_TEST_LOWER": "7"]) == ["lower has to be below upper"])
        let found = problems(Ruled(), ["STOREKEEPER_TEST_LOWER": "seven", "STOREKEEPER_TEST_UPPER": "101"])
        #expect(found.count == 2)
        #expect(!found.contains("lower has to be below upper"))
    }

    @Test func `Settings list the problems of both tables of a process together`() {
        let environment = EnvironmentReader([
            "STOREKEEPER_LOG_LEVEL": "loud", "STOREKEEPER_TEST_WIAT": "1s", "STOREKEEPER_TEST_WAIT": "no",
        ])
        let common = CommonVariables(adminAddress: "127.0.0.1:0")
        #expect {
            try ServiceProcess.settings(Table(), common, in: environment)
        } throws: { error in
            let problems = (error as? ConfigurationProblems)?.problems.map(\.description) ?? []
            return problems.map { $0.prefix(while: { $0 != " " }) } == [
                "TEST_BROKERS", "STOREKEEPER_TEST_WAIT", "STOREKEEPER_LOG_LEVEL", "STOREKEEPER_TEST_WIAT",
            ]
        }
    }
}
