import Testing

@testable import Storekeeper

struct DirectoryClaimTests {
    @Test func `a directory is one run's at a time, and the next one's afterwards`() throws {
        let place = try TemporaryDirectory()
        do {
            let first = try DirectoryClaim(place.path + "/new")
            let second = #expect(throws: Failure.self) { try DirectoryClaim(place.path + "/new") }
            #expect(second?.description.hasPrefix("another storekeeper dev runs in ") == true)
            withExtendedLifetime(first) {}
        }
        #expect(throws: Never.self) { try DirectoryClaim(place.path + "/new") }
    }
}
