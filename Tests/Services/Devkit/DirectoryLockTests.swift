import Commands
import TestSupport
import Testing

@testable import Devkit

struct DirectoryLockTests {
    @Test func `Directory is one run's at a time, and the next one's afterwards`() throws {
        let place = try TemporaryDirectory()
        do {
            let first = try DirectoryLock(place.path + "/new")
            let second = #expect(throws: CommandError.self) { try DirectoryLock(place.path + "/new") }
            #expect(second?.description.hasPrefix("another storekeeper dev runs in ") == true)
            withExtendedLifetime(first) {}
        }
        #expect(throws: Never.self) { try DirectoryLock(place.path + "/new") }
    }
}
