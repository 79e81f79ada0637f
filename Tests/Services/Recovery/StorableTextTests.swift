import Testing

@testable import Recovery

@Suite struct StorableTextTests {
    @Test func `Text of one character is cut at 512 bytes, not at 512 characters`() {
        // One character for Swift, of any number of marks.
        let tower = "e" + String(repeating: "\u{0301}", count: 100_000)
        #expect(tower.count == 1)
        #expect(tower.storable.utf8.count == 511)
        let families = String(repeating: "👩‍👩‍👧‍👧", count: 512)
        #expect(families.storable.utf8.count <= 512)
        #expect(families.utf8.starts(with: families.storable.utf8))
    }

    @Test func `Short text stays as it is, without NULs`() {
        #expect("app\0.example ü".storable == "app.example ü")
        let whole = String(repeating: "a", count: 512)
        #expect((whole + "b").storable == whole)
    }
}
