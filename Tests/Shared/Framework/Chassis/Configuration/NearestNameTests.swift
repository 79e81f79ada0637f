import Testing

@testable import Chassis

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("same", "same", 0),
    ])
    func `NearestName counts inserted, removed and replaced letters`(left: String, right: String, distance: Int) {
        #expect(NearestName.distance(left, right) == distance)
        #expect(NearestName.distance(right, left) == distance)
    }

    @Test func `NearestName returns the nearest name, and none that is too far away`() {
        #expect(NearestName.of("ADRESS", among: ["ADDRESS", "ADMIN"]) == "ADDRESS")
        #expect(NearestName.of("SOMETHING_ELSE", among: ["ADDRESS", "ADMIN"]) == nil)
        #expect(NearestName.of("ADDRESS", among: []) == nil)
    }
}
