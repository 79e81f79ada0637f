import Testing

@testable import Chassis

@Suite struct TraceContextTests {
    @Test(arguments: [
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0000000000000000000000000000000a-000000000000000b-00",
    ])
    func `TraceContext of the standard's form is read and written`(text: String) {
        #expect(TraceContext(text)?.traceparent == text)
    }

    @Test func `TraceContext has the ids that the standard names`() throws {
        let context = try #require(TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03"))
        #expect(context.trace == (0x0af7_6519_16cd_43dd, 0x8448_eb21_1c80_319c))
        #expect(context.traceId == "0af7651916cd43dd8448eb211c80319c")
        #expect(context.span == 0xb7ad_6b71_6920_3331)
        #expect(context.isSampled)
    }

    @Test(arguments: [
        "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ])
    func `TraceContext drops anything else`(text: String) {
        #expect(TraceContext(text) == nil)
    }
}
