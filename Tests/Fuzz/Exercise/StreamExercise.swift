import FoundationEssentials
import LocalDataAPI
import ReaderExercise

@testable import NATSSync

/// Answers of a NATS server that LocalData parses itself instead of libnats: JSON, subjects, and the text for a
/// message's position in its stream; and positions.
enum StreamExercise {
    static func run(_ bytes: Data) throws {
        if let position = StreamPosition(bytes) {
            let again = StreamPosition(position.data)
            try require(
                again?.created == position.created && again?.generation == position.generation
                    && again?.sequence == position.sequence, "a position that was written is read as another one")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        try checkSubject(text)
        _ = (LinkSession.number(of: text), MessagePlace(text))
        if let address = try? NATSAddress(text) {
            try require(
                try NATSAddress("tls://\(address.name)").name == address.name,
                "a server's name is read as another one")
        }
        try checkAnswers(bytes)
    }

    private static func checkSubject(_ text: String) throws {
        let names = BucketNames("b")
        guard let (writer, name) = names.record(of: text) else { return }
        try require(names.subject(of: name, writer) == text, "a record's subject is another one than it was read from")
    }

    private static func checkAnswers(_ bytes: Data) throws {
        func decoded<Answer: Decodable>(_ type: Answer.Type) -> Answer? { try? JSONDecoder().decode(type, from: bytes) }
        let errors = [
            decoded(Acknowledgement.self)?.error, decoded(Done.self)?.error, decoded(StoredMessage.self)?.error,
            decoded(ConsumerInfo.self)?.error,
        ]
        for error in errors { _ = error?.error("reading", "host") }
        guard let configuration = decoded(StreamInfo.self)?.config else { return }
        let again = try JSONDecoder().decode(
            StreamConfiguration.self, from: try JSONEncoder().encode(configuration))
        try require(
            again.flaw(largest: 1_000_000) == configuration.flaw(largest: 1_000_000),
            "a stream's configuration that was written is read as another one")
    }

    static let samples: [[UInt8]] = [
        "2026-01-02T03:04:05.678901234Z/0/17", "/18446744073709551615/0", "$KV.b.0123456789abcdef.a-1",
        "_INBOX.AbCdEfGh.12.7", "$JS.ACK.KV_b.Cq3Ux.1.17.4.1767323045678901234.0",
        "$JS.ACK.hub.ACCOUNT.KV_b.Cq3Ux.2.17.4.1767323045678901234.12.token", "tls://nats.example:4222",
        "nats://[::1]:4222/", #"{"stream":"KV_b","seq":17,"duplicate":true}"#,
        #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 12"},"stream":"KV_b","seq":0}"#,
        #"{"type":"io.nats.jetstream.api.v1.stream_msg_get_response","message":{"subject":"$KV.b.w.n","seq":4,"data":"eA=="}}"#,
        #"{"type":"io.nats.jetstream.api.v1.consumer_create_response","stream_name":"KV_b","name":"Cq3Ux","config":{}}"#,
        #"{"type":"io.nats.jetstream.api.v1.stream_info_response","total":0,"created":"2026-01-02T03:04:05.678901234Z","#
            + #""config":{"name":"KV_b","subjects":["$KV.b.>"],"retention":"limits","storage":"file","discard":"new","#
            + #""num_replicas":1,"max_age":0,"max_msgs":-1,"max_bytes":-1,"max_msgs_per_subject":1,"max_msg_size":-1,"#
            + #""allow_rollup_hdrs":true,"deny_delete":true,"allow_direct":true,"sealed":false,"deny_purge":false,"#
            + #""duplicate_window":1000000000},"state":{"messages":3,"first_seq":1,"last_seq":17}}"#,
    ].map { Array($0.utf8) }
}
