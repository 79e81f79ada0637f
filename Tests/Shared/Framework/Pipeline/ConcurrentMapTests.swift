import Pipeline
import Testing

@Suite struct ConcurrentMapTests {
    @Test(arguments: [0, 1, 2, 7, 8, 9, 1000], [1, 2, 3, 64])
    func `ConcurrentMap returns results in the order of the elements`(count: Int, cores: Int) async {
        let squares = await Array(0..<count).concurrentMap(cores: cores) { $0 * $0 }
        #expect(squares == (0..<count).map { $0 * $0 })
    }
}
