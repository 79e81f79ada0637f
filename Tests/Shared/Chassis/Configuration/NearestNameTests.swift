import Testing

@testable import Chassis

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("same", "same", 0),
    ])
    func `the distance counts letters put in, taken out or replaced`(left: String, right: String, distance: Int) {
        #expect(NearestName.distance(left, right) == distance)
        #expect(NearestName.distance(right, left) == distance)
    }

    @Test func `the nearest name wins, and one too far away is not guessed`() {
        #expect(NearestName.of("ADRESS", among: ["ADDRESS", "ADMIN"]) == "ADDRESS")
        #expect(NearestName.of("SOMETHING_ELSE", among: ["ADDRESS", "ADMIN"]) == nil)
        #expect(NearestName.of("ADDRESS", among: []) == nil)
    }
}
