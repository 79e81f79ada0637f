import Foundation
import Testing

@testable import Chassis

@Suite struct PortFileTests {
    private var logger: Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }

    @Test func `PortFile has the port in one line`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "port-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        PortFile.write(8080, to: file.path, logger: logger)
        #expect(try String(contentsOf: file, encoding: .utf8) == "8080\n")
    }

    @Test func `PortFile that cannot be written does not stop the process, and no path writes none`() {
        PortFile.write(8080, to: "/nowhere/at/all/port", logger: logger)
        PortFile.write(8080, to: nil, logger: logger)
        #expect(!FileManager.default.fileExists(atPath: "/nowhere"))
    }
}
