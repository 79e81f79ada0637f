import ArgumentParser
import Commands

/// A file of customers whose purchases are fetched from Apple and sent through the pipeline.
struct CustomerFileOptions: ParsableArguments {
    @OptionGroup var apple: AppleOptions
    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "File of customers.")
    var file: String

    @Option(help: "Progress file (default: FILE.progress).")
    var progress: String?

    @Option(help: "Number of customers to fetch from Apple in parallel, 1 to 200.")
    var parallel = 20

    func validate() throws {
        guard (1...200).contains(parallel) else {
            throw ValidationError("--parallel \(parallel) is out of range: 1 to 200")
        }
    }

    var progressFile: String { progress ?? file + ".progress" }
}
