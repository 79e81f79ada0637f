import ArgumentParser
import Testing

@testable import Storekeeper

struct CustomerListTests {
    @Test func `ids are read once each, whatever stands around them`() throws {
        let text = "2000000000000001\r\n\n  2000000000000002  # Ada\n# nobody\n2000000000000001\n3"
        #expect(try CustomerList(text).ids == ["2000000000000001", "2000000000000002", "3"])
    }

    @Test(arguments: [
        "", "# nobody\n", "1\nada@example.com\n", "1,2,3", "{\"id\": 1}", "²", "12345678901234567890123456789012",
    ])
    func `a file of something else is refused`(text: String) {
        #expect(throws: ValidationError.self) { try CustomerList(text) }
    }
}
