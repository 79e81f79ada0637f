import Foundation

/// A clock for development that a simulator moves: the system's, ahead by what a file says.
///
/// All programs of a development run read the same file, so that they agree at every moment: what a simulated App Store signs
/// after `simulator clock advance 31d` is not of the future for those that verify it. It moves forward only, because no program
/// expects time to go back.
public struct DevelopmentClock: Sendable {
    /// Digits in the file; always as many, so that a reader never sees half a number.
    private static let digits = 20

    /// Never closed: a clock lives as long as its process.
    private let descriptor: Int32
    private let file: String

    /// - Parameter file: created with 0 where there is none.
    /// - Throws: ``ConfigurationProblem`` where it cannot be opened or holds no number.
    public init(file: String) throws(ConfigurationProblem) {
        descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        self.file = file
        guard descriptor >= 0 else {
            throw ConfigurationProblem(
                "the development clock's file \(file) cannot be opened: \(String(cString: strerror(errno))).")
        }
        var information = stat()
        if fstat(descriptor, &information) == 0, information.st_size == 0 { advance(to: 0) }
        guard read() != nil else {
            throw ConfigurationProblem(
                "\(file) is no file of a development clock: it holds milliseconds in \(Self.digits) digits.")
        }
    }

    /// Milliseconds by which it is ahead of the system's clock.
    public var milliseconds: Int64 { read() ?? 0 }

    /// A time of the system's clock, as much later as the file says.
    public func moved(_ time: Date) -> Date { time.addingTimeInterval(Double(milliseconds) / 1000) }

    /// Moves the clock of all processes that read the file.
    /// - Parameter milliseconds: by which it is ahead then; not less than before.
    public func advance(to milliseconds: Int64) {
        let text = String(repeating: "0", count: Self.digits) + String(max(milliseconds, self.milliseconds))
        let bytes = Array(text.utf8.suffix(Self.digits))
        _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    private func read() -> Int64? {
        var bytes = [UInt8](repeating: 0, count: Self.digits)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return count == Self.digits ? Int64(String(decoding: bytes, as: UTF8.self)) : nil
    }
}
