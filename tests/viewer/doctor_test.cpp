// What doctor makes of the facts about a process, a program and a machine.
#include "viewer/doctor/machine_findings.hpp"
#include "viewer/doctor/process_findings.hpp"
#include "viewer/doctor/program_findings.hpp"
#include "viewer/doctor/segment_place.hpp"
#include "viewer/render/findings_text.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tidemark::viewer {
namespace {

namespace fs = std::filesystem;

const std::vector<fs::path> kDirectories{"/dev/shm"};

ProcessFacts healthy() {
  ProcessFacts facts;
  facts.pid = 4711;
  facts.own_pid = 4711;
  facts.exists = true;
  facts.is_readable = true;
  facts.uid = 1000;
  facts.executable = "/app/app/train";
  facts.preloads = {{.path = "/app/lib/libtidemark.so", .is_ours = true, .has_our_names = true}};
  facts.library = "/app/lib/libtidemark.so";
  facts.drivers = {"/usr/lib/libcuda.so.1", "/usr/lib/libcudart.so.13"};
  facts.directory = "/dev/shm";
  return facts;
}

ProcessFacts unloaded() {
  ProcessFacts facts = healthy();
  facts.library.clear();
  return facts;
}

std::string text_of(const Findings& findings) {
  return findings_text({.kind = "process", .name = "4711 train"}, findings, Charset::Utf8);
}
std::string of_process(const ProcessFacts& facts, bool has_segment = true) {
  return text_of(findings_of_process(facts, has_segment, kDirectories));
}

// "problem static", "note mode": those that are not fine. Each has a place in docs/doctor.md.
std::vector<std::string> codes(const Findings& findings) {
  static const std::string doc = [] {
    std::ifstream file(TIDEMARK_DOCTOR_DOC);
    return std::string{std::istreambuf_iterator<char>{file}, {}};
  }();
  std::vector<std::string> found;
  for (const Finding& finding : findings) {
    EXPECT_NE(doc.find("`" + std::string{finding.code} + "`"), std::string::npos) << finding.code;
    if (finding.weight != Weight::Fine) {
      found.push_back((finding.weight == Weight::Note ? "note " : "problem ") + std::string{finding.code});
    }
  }
  return found;
}
using Codes = std::vector<std::string>;

TEST(DoctorOfAProcess, FindsNothingWrongWithOneThatIsTracked) {
  EXPECT_EQ(of_process(healthy()), R"(4711 train
  ok       /app/lib/libtidemark.so is loaded
  ok       loaded: /usr/lib/libcuda.so.1, /usr/lib/libcudart.so.13
no problem found
)");
}

TEST(DoctorOfAProcess, SaysWhyTheLibraryIsNotLoaded) {
  ProcessFacts facts = unloaded();
  facts.preloads.clear();
  EXPECT_EQ(of_process(facts, false), R"(4711 train
  problem  libtidemark.so is not loaded: LD_PRELOAD did not name it when the process started; start it with: tidemark run -- CMD
  ok       loaded: /usr/lib/libcuda.so.1, /usr/lib/libcudart.so.13
1 problem found
)");

  const auto code = [](auto&& change) {
    ProcessFacts changed = unloaded();
    change(changed);
    return codes(findings_of_process(changed, false, kDirectories));
  };
  EXPECT_EQ(code([](ProcessFacts& changed) { changed.is_static = true; }), Codes{"problem static"});
  EXPECT_EQ(code([](ProcessFacts& changed) { changed.is_secure = true; }), Codes{"problem privileged"});
  EXPECT_EQ(code([](ProcessFacts& changed) { changed.is_other_machine = true; }), Codes{"problem other-machine"});
  EXPECT_EQ(code([](ProcessFacts& changed) { changed.preloads[0].exists = false; }), Codes{"problem no-such-library"});
  EXPECT_EQ(code([](ProcessFacts&) {}), Codes{"problem not-loaded"});
}

TEST(DoctorOfAProcess, SaysThatTheLibraryIsNotInItsContainer) {
  ProcessFacts facts = unloaded();
  facts.preloads[0].exists = false;
  facts.has_other_root = true;

  EXPECT_EQ(findings_of_process(facts, false, kDirectories)[0].what,
            "LD_PRELOAD names /app/lib/libtidemark.so, which is not there in the process's container");
}

TEST(DoctorOfAProcess, SaysWhyThereIsNoSegment) {
  const auto code = [](auto&& change) {
    ProcessFacts changed = healthy();
    change(changed);
    return codes(findings_of_process(changed, false, kDirectories));
  };
  const auto with = [&](const char* name, const char* value) {
    return code([&](ProcessFacts& changed) { changed.environment[name] = value; });
  };
  EXPECT_EQ(with("TIDEMARK_MODE", "off"), Codes{"problem mode-off"});
  EXPECT_EQ(with("TIDEMARK_SKIP", "git,train"), Codes{"problem skipped"});
  EXPECT_EQ(with("TIDEMARK_SHM", "off"), Codes{"problem shm-off"});
  EXPECT_EQ(with("TIDEMARK_ONLY_PID", "4000"), Codes{"problem only-pid"});
  EXPECT_EQ(with("TIDEMARK_ONLY_PID", "4711"), Codes{"note not-met"});
  EXPECT_EQ(code([](ProcessFacts& changed) { changed.directory_trouble = "does not exist"; }),
            Codes{"problem directory"});
  EXPECT_EQ(code([](ProcessFacts& changed) { changed.directory = "/srv/segments"; }), Codes{"problem elsewhere"});
  EXPECT_EQ(code([](ProcessFacts&) {}), Codes{"note not-met"});
  EXPECT_EQ(code([](ProcessFacts& changed) { changed.drivers.clear(); }),
            (Codes{"note no-driver", "note no-allocation"}));
  EXPECT_EQ(code([](ProcessFacts& changed) {
              changed.environment["TIDEMARK_SHM"] = "memfd";
              changed.directory = "/srv/segments";
            }),
            Codes{"note not-met"});
}

TEST(DoctorOfAProcess, TellsAnotherInterposerFromAnyOtherPreload) {
  ProcessFacts facts = healthy();
  facts.preloads.insert(facts.preloads.begin(), {.path = "/app/libvgpu.so", .has_our_names = true});
  facts.preloads.push_back({.path = "/usr/lib/libjemalloc.so.2"});

  EXPECT_EQ(of_process(facts), R"(4711 train
  ok       /app/lib/libtidemark.so is loaded
  problem  /app/libvgpu.so in LD_PRELOAD has functions of the same names and comes before ours: calls go there first; one of the two may not see every call; try without it
  note     LD_PRELOAD also has /usr/lib/libjemalloc.so.2
  ok       loaded: /usr/lib/libcuda.so.1, /usr/lib/libcudart.so.13
1 problem found
)");
}

TEST(DoctorOfAProcess, SeesTwoCopiesOfADriver) {
  ProcessFacts facts = healthy();
  facts.drivers.emplace_back("/app/compat/libcuda.so.1");

  EXPECT_EQ(codes(findings_of_process(facts, true, kDirectories)), Codes{"problem two-drivers"});
}

TEST(DoctorOfAProcess, HasLittleToSayOfOneThatItCannotLookInto) {
  ProcessFacts facts = healthy();
  facts.is_library_replaced = true;
  EXPECT_EQ(codes(findings_of_process(facts, true, kDirectories)), Codes{"note library-replaced"});

  facts.is_readable = false;
  EXPECT_EQ(codes(findings_of_process(facts, true, kDirectories)), Codes{"problem unreadable"});
  EXPECT_EQ(findings_of_process(facts, true, kDirectories)[0].advice, "ask as that user or as root");
  facts.is_viewer_root = true;
  EXPECT_NE(findings_of_process(facts, true, kDirectories)[0].advice.find("CAP_SYS_PTRACE"), std::string::npos);

  facts.is_zombie = true;
  EXPECT_EQ(codes(findings_of_process(facts, true, kDirectories)), Codes{"note zombie"});
}

ProcessView tracked() {
  ProcessView process = sample_view().processes[0];
  process.coverage =
      segment::CoverageList{{.name = "cuMemAlloc_v2", .uses = static_cast<std::uint64_t>(segment::SymbolUse::Entered)},
                            {.name = "mtiaMalloc"}};
  return process;
}
const std::vector<std::string> kCuda{"/usr/lib/libcuda.so.1"};

TEST(DoctorOfASegment, FindsNothingWrongWithOneThatIsTracked) {
  EXPECT_EQ(text_of(findings_of_segment(tracked(), "", kCuda)), R"(4711 train
  ok       it publishes its counters (id 9f3c01aa)
  ok       memory is cached and counted
  ok       every allocation that was seen is accounted for
no problem found
)");
}

TEST(DoctorOfASegment, SaysWhatIsNotSeen) {
  EXPECT_EQ(text_of(findings_of_segment(sample_view().processes[0], "", kCuda)), R"(4711 train
  ok       it publishes its counters (id 9f3c01aa)
  ok       memory is cached and counted
  problem  looked up past us, in a library that is not the driver we serve: cuMemCreate; a second copy of the driver, or a wrapper of another name; let there be one
  problem  successful calls whose memory is in no number of ours: cuGraphAddMemAllocNode 2, cuMemAllocAsync 1 (in captures); compare with the driver's own figure: the 'not ours' line of tidemark show
  note     tables of private functions given out by the driver: 5; what allocates through one is not seen (every genuine CUDA runtime asks for some)
2 problems found
)");
}

TEST(DoctorOfASegment, NotesWhatWasLookedUpElsewhereAsWell) {
  using segment::SymbolUse;
  ProcessView process = tracked();
  process.coverage->front().uses |= static_cast<std::uint64_t>(SymbolUse::Missed);

  EXPECT_EQ(codes(findings_of_segment(process, "", kCuda)), Codes{"note missed-too"});
}

TEST(DoctorOfASegment, NamesADriverThatNobodyAllocatesInThroughUs) {
  const std::vector<std::string> both{"/usr/lib/libcuda.so.1", "/usr/lib/libmtia.so.1"};
  ProcessView process = tracked();
  EXPECT_EQ(codes(findings_of_segment(process, "", both)), Codes{"note hook-never-hit"});

  process.coverage->back().uses = static_cast<std::uint64_t>(segment::SymbolUse::Swapped);
  EXPECT_EQ(codes(findings_of_segment(process, "", both)), Codes{"note never-called"});

  EXPECT_EQ(codes(findings_of_segment(process, "", kCuda)), Codes{}) << "not loaded";
}

TEST(DoctorOfASegment, SaysWhatTheProcessSaysOfItself) {
  const auto code = [](auto&& change, std::string_view obstacle = "") {
    ProcessView process = tracked();
    change(process);
    return codes(findings_of_segment(process, obstacle, kCuda));
  };
  using segment::ControlPolicy;
  EXPECT_EQ(code([](ProcessView& p) { p.snapshot.globals.mode = segment::ProcessMode::Count; }), Codes{"note mode"});
  EXPECT_EQ(code([](ProcessView& p) { p.snapshot.globals.mode_reason = "cuda:1 only counts"; }), Codes{"note mode"});
  EXPECT_EQ(code([](ProcessView& p) { p.snapshot.globals.control_policy = ControlPolicy::Off; }, "it takes none"),
            Codes{"note control-off"});
  EXPECT_EQ(code([](ProcessView& p) { p.snapshot.globals.control_policy = ControlPolicy::Peaks; }),
            Codes{"note control-peaks"});
  EXPECT_EQ(code([](ProcessView&) {}, "its control file was removed"), Codes{"problem control-closed"});
  EXPECT_EQ(code([](ProcessView& p) { p.snapshot.globals.flags = 0; }), Codes{"note no-thread"});
  EXPECT_EQ(code([](ProcessView& p) { p.snapshot.globals.errors = 1; }), Codes{"note errors"});
  EXPECT_EQ(code([](ProcessView& p) { p.devices[0].snapshot.kinds.reset(); }), Codes{"note kinds-unknown"});
  EXPECT_EQ(code([](ProcessView& p) { p.coverage.reset(); }), Codes{"note coverage-unknown"});
  EXPECT_EQ(code([](ProcessView& p) { p.snapshot.has_newer_layout = true; }), Codes{"note newer-layout"});
  EXPECT_EQ(code([](ProcessView& p) { p.snapshot.state = segment::ProcessState::Stopped; }), Codes{"note stopped"});
  EXPECT_EQ(code([](ProcessView& p) { p.snapshot.state = segment::ProcessState::Killed; }, "nobody is there"),
            Codes{"note ended"});
}

MachineFacts ready() {
  MachineFacts facts;
  facts.library = "/app/lib/libtidemark.so";
  facts.directory = "/dev/shm";
  facts.nvidia_driver = "NVRM version: 580";
  facts.has_device_node = true;
  facts.cuda_driver = "/usr/lib/libcuda.so.1";
  facts.nvml_devices = 8;
  facts.simulator = "/app/lib/simulator";
  facts.published = 1;
  return facts;
}

TEST(DoctorOfAMachine, FindsNothingWrongWithOneThatIsReady) {
  EXPECT_EQ(findings_text({.kind = "machine", .name = "node7"}, findings_of_machine(ready()), Charset::Utf8),
            R"(node7
  ok       /app/lib/libtidemark.so loads
  ok       segments go to /dev/shm
  ok       NVRM version: 580
  ok       the CUDA driver is /usr/lib/libcuda.so.1
  ok       NVML tells the memory in use of 8 devices
  ok       simulated drivers are in /app/lib/simulator
  ok       1 process publishes its counters
no problem found
)");
}

TEST(DoctorOfAMachine, SaysWhatIsMissingOrInTheWay) {
  const auto code = [](auto&& change) {
    MachineFacts facts = ready();
    change(facts);
    return codes(findings_of_machine(facts));
  };
  EXPECT_EQ(code([](MachineFacts& f) { f.library.clear(); }), Codes{"problem no-library"});
  EXPECT_EQ(code([](MachineFacts& f) { f.loader_error = "cannot be preloaded"; }), Codes{"problem library-refused"});
  EXPECT_EQ(code([](MachineFacts& f) { f.directory_trouble = "is full"; }), Codes{"problem directory"});
  EXPECT_EQ(code([](MachineFacts& f) { f.file_size_limit = 4096; }), Codes{"problem file-size-limit"});
  EXPECT_EQ(code([](MachineFacts& f) { f.file_size_limit = 1 << 20; }), Codes{});
  EXPECT_EQ(code([](MachineFacts& f) { f.has_device_node = false; }), Codes{"note no-device-node"});
  EXPECT_EQ(code([](MachineFacts& f) { f.cuda_driver.clear(); }), Codes{"note no-cuda-driver"});
  EXPECT_EQ(code([](MachineFacts& f) { f.nvml_devices.reset(); }), Codes{"note no-nvml"});
  EXPECT_EQ(code([](MachineFacts& f) { f.simulator.clear(); }), Codes{"note no-simulator"});
  EXPECT_EQ(
      code([](MachineFacts& f) { f.unpublished = {.waiting = 1, .silent = 2, .elsewhere = 3, .directories = {}}; }),
      (Codes{"note waiting", "note silent", "note elsewhere"}));
  EXPECT_EQ(code([](MachineFacts& f) { f.dead = 2; }), Codes{"note leftovers"});
  EXPECT_EQ(code([](MachineFacts& f) { f.hidden = 2; }), Codes{"note hidden"});
  EXPECT_EQ(code([](MachineFacts& f) { f.damaged = 2; }), Codes{"note damaged"});
  EXPECT_EQ(code([](MachineFacts& f) { f.incompatible = 2; }), Codes{"problem incompatible"});
}

class DoctorOfAPlace : public testing::Test {
 protected:
  DoctorOfAPlace() {
    std::string pattern = "/tmp/tidemark-doctor.XXXXXX";
    place_ = mkdtemp(pattern.data());
  }
  ~DoctorOfAPlace() override { fs::remove_all(place_); }

  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = place_ / name;
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

  fs::path place_;
};

TEST_F(DoctorOfAPlace, SaysWhyNoSegmentCanBeMadeThere) {
  EXPECT_EQ(trouble_in(place_.string(), "/", 0), "");
  EXPECT_EQ(trouble_in("", "/", 0), "is not an absolute path");
  EXPECT_EQ(trouble_in("here", "/", 0), "is not an absolute path");
  EXPECT_EQ(trouble_in("/nowhere/at/all", "/", 0), "does not exist");
  EXPECT_EQ(trouble_in("/dev/null", "/", 0), "is not a directory");
  EXPECT_EQ(trouble_in("/", place_, 0), "");
  EXPECT_EQ(trouble_in(place_.string(), "/", 65533), "may not be written by user 65533");
  chmod(place_.c_str(), 0777);
  EXPECT_EQ(trouble_in(place_.string(), "/", 65533), "");
}

TEST_F(DoctorOfAPlace, KnowsAnInterposerByTheNamesInIt) {
  using namespace std::string_literals;
  EXPECT_TRUE(has_our_names(write("libvgpu.so", "\0cuMemAlloc_v2\0"s)));
  EXPECT_FALSE(has_our_names(write("libjemalloc.so", "\0malloc\0mycudaMalloc\0"s)));
  EXPECT_FALSE(has_our_names("/nowhere"));
  EXPECT_EQ(preload_parts(" /a.so:/b.so  c.so:"), (std::vector<std::string>{"/a.so", "/b.so", "c.so"}));
}

TEST_F(DoctorOfAPlace, ReadsTheFactsOfAProcess) {
  const fs::path process = place_ / "100";
  fs::create_directories(process / "root/app");
  fs::create_directories(process / "ns");
  std::ofstream(process / "maps") << "7f00-7f01 r-xp 0 08:01 7    /usr/lib/libcuda.so.1\n"
                                     "7f00-7f01 rw-p 0 08:01 7    /usr/lib/libcuda.so.1\n"
                                     "7f02-7f03 r-xp 0 08:01 8    /app/libtidemark.so (deleted)\n";
  std::ofstream(process / "environ", std::ios::binary)
      << std::string_view{"LD_PRELOAD=/app/gone.so:/app/libtidemark.so\0TIDEMARK_DIR=/app\0", 63};
  std::ofstream(process / "status") << "Name:\ttrain\nState:\tS (sleeping)\n";

  const ProcessFacts facts = read_process_facts(100, place_);

  EXPECT_TRUE(facts.exists);
  EXPECT_TRUE(facts.is_readable);
  EXPECT_FALSE(facts.is_zombie);
  EXPECT_EQ(facts.library, "/app/libtidemark.so");
  EXPECT_TRUE(facts.is_library_replaced);
  EXPECT_EQ(facts.drivers, std::vector<std::string>{"/usr/lib/libcuda.so.1"});
  ASSERT_EQ(facts.preloads.size(), 2U);
  EXPECT_FALSE(facts.preloads[0].exists);
  EXPECT_TRUE(facts.preloads[1].is_ours);
  EXPECT_EQ(facts.directory, "/app");
  EXPECT_EQ(facts.directory_trouble, "");
  EXPECT_FALSE(read_process_facts(101, place_).exists);
}

TEST_F(DoctorOfAPlace, LooksAtAProgramBeforeItStarts) {
  const auto code = [](std::vector<std::string> words, Environment environment = {}) {
    return codes(findings_of_program(words, environment));
  };
  EXPECT_EQ(code({"/bin/ls"}), Codes{"note not-linked"});
  std::ifstream ls("/bin/ls", std::ios::binary);
  const std::string_view nvidia{"libcuda.so.1\0/cudart.shm.%x\0", 28};
  EXPECT_EQ(code({write("train", std::string{std::istreambuf_iterator<char>{ls}, {}}.append(nvidia))}),
            Codes{"note static-runtime"});
  EXPECT_EQ(code({"/nowhere"}), Codes{"problem no-such-program"});
  EXPECT_EQ(code({write("script", "#!/no/such/sh\n")}), Codes{"problem no-interpreter"});
  EXPECT_EQ(code({write("env", "#!/usr/bin/env nosuchprogram\n")}), Codes{"problem no-interpreter"});
  EXPECT_EQ(code({write("sudo", "#!/bin/sh\n")}), Codes{"problem launcher"});
  EXPECT_EQ(code({write("srun", "#!/bin/sh\n")}), (Codes{"note spreader", "note not-linked"}));
  EXPECT_EQ(code({"/bin/ls"}, {{"TIDEMARK_MODE", "off"}}), (Codes{"note not-linked", "problem mode-off"}));
  EXPECT_EQ(code({"/bin/ls"}, {{"TIDEMARK_SHM", "off"}}), (Codes{"note not-linked", "problem shm-off"}));
  EXPECT_EQ(code({"/bin/ls"}, {{"TIDEMARK_SKIP", "ls"}}), (Codes{"note not-linked", "problem skipped"}));
  EXPECT_EQ(code({"/bin/ls"}, {{"LD_PRELOAD", "/a/libtidemark.so /b/libother.so"}}),
            (Codes{"note not-linked", "note preloaded", "note other-preload"}));
}

TEST(FindingsJson, IsOneDocument) {
  const auto document = nlohmann::json::parse(findings_json(
      {.kind = "process", .name = "4711 \xff", .pid = 4711, .id = "9f3c01aa"},
      {{Weight::Problem, "static", "it is static", "link it"}, {Weight::Fine, "mode", "cached"}}, kSampleNow));

  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["kind"], "process");
  EXPECT_EQ(document["pid"], 4711);
  EXPECT_EQ(document["id"], "9f3c01aa");
  EXPECT_EQ(document["problems"], 1);
  EXPECT_EQ(
      document["findings"][0],
      nlohmann::json({{"level", "problem"}, {"code", "static"}, {"what", "it is static"}, {"advice", "link it"}}));
  EXPECT_EQ(document["findings"][1]["advice"], nullptr);
}

}  // namespace
}  // namespace tidemark::viewer
