import Foundation
import Testing

@testable import Chassis

private enum Colour: String, Sendable, CaseIterable {
    case red, green
}

private func read<Value>(_ variable: Variable<Value>, _ text: String) -> Value? {
    try? variable.read(EnvironmentReader(["X_FILE": text]))
}

@Suite struct VariableKindsTests {
    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("5s", .seconds(5)), ("2m", .seconds(120)), ("1h", .seconds(3600)),
        ("7d", .seconds(604_800)), ("0s", .zero), ("3 s", .seconds(3)),
    ])
    func `Duration has a number and a unit`(text: String, duration: Duration) {
        #expect(read(.duration("X_FILE", ""), text) == duration)
    }

    @Test(arguments: ["36526d", "9223372036854775807s", "9223372036854775807ms"])
    func `Duration of more than a hundred years is rejected: in nanoseconds it would be no number`(text: String) {
        #expect(read(.duration("X_FILE", ""), text) == nil)
    }

    @Test(arguments: ["5", "s", "-1s", "1.5s", "5 minutes", "99999999999999999999s", "9223372036854775807h", "٥s"])
    func `Duration without a unit, or with an unknown one, is rejected`(text: String) {
        #expect(read(.duration("X_FILE", ""), text) == nil)
    }

    @Test(arguments: [("0", 0), ("512", 512), ("1B", 1), ("64KiB", 65536), ("1MiB", 1 << 20), ("2GiB", 2 << 30)])
    func `Byte count may have a binary unit`(text: String, count: Int) {
        #expect(read(.byteCount("X_FILE", ""), text) == count)
    }

    @Test(arguments: ["1MB", "1k", "-1", "1.5MiB", "9223372036854775807GiB", "MiB"])
    func `Byte count with any other unit is rejected`(text: String) {
        #expect(read(.byteCount("X_FILE", ""), text) == nil)
    }

    @Test func `Whole number stays within its range`() {
        #expect(read(.int("X_FILE", "", in: 1...10), "10") == 10)
        #expect(read(.int("X_FILE", "", in: 1...10), "11") == nil)
        #expect(read(.int("X_FILE", "", in: 1...10), "0x5") == nil)
    }

    @Test func `Ratio stays within its range`() {
        #expect(read(.double("X_FILE", "", in: 0...1), "0.5") == 0.5)
        #expect(read(.double("X_FILE", "", in: 0...1), "1.01") == nil)
        #expect(read(.double("X_FILE", "", in: 0...1), "nan") == nil)
    }

    @Test func `Boolean is true or false and nothing else`() {
        #expect(read(.bool("X_FILE", ""), "true") == true)
        #expect(read(.bool("X_FILE", ""), "false") == false)
        for text in ["yes", "1", "TRUE", "on"] { #expect(read(.bool("X_FILE", ""), text) == nil) }
    }

    @Test func `URL is absolute and has a host`() {
        #expect(read(.url("X_FILE", ""), "postgres://localhost/books")?.host == "localhost")
        for text in ["/path", "localhost", "http://", "not a url", "http://localhost:65536"] {
            #expect(read(.url("X_FILE", ""), text) == nil)
        }
    }

    @Test func `List has no empty entries`() {
        #expect(read(.list("X_FILE", ""), "a, b ,c") == ["a", "b", "c"])
        #expect(read(.list("X_FILE", ""), "a,,b") == nil)
        #expect(read(.list("X_FILE", ""), "a,") == nil)
    }

    @Test func `Choice is one of the names`() {
        #expect(read(Variable<Colour>.choice("X_FILE", ""), "green") == .green)
        #expect(read(Variable<Colour>.choice("X_FILE", ""), "Green") == nil)
        #expect(throws: ConfigurationProblem("X_FILE is \"blue\", which is not one of red, green.")) {
            try Variable<Colour>.choice("X_FILE", "").read(EnvironmentReader(["X_FILE": "blue"]))
        }
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", 8080), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65535),
    ])
    func `Address is a host and a port, and prints as it was written`(text: String, host: String, port: Int) {
        let address = ListenAddress(text)
        #expect(address == ListenAddress(host: host, port: port))
        #expect(address?.description == text)
    }

    @Test(arguments: ["8080", ":8080", "::1:80", "host:", "host:65536", "host:-1", "host:http", ""])
    func `Address without a host or a port is rejected`(text: String) {
        #expect(ListenAddress(text) == nil)
    }
}
