// `tidemark env`: each form is read back as what `run` would set.
#include "viewer/render/env_text.hpp"

#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace tidemark::test {
namespace {

using testing::HasSubstr;
using viewer::docker_text;
using viewer::k8s_text;
using viewer::Mount;
using viewer::Settings;
using viewer::shell_text;
using viewer::systemd_text;

const Settings kSettings{{"TIDEMARK_LABEL", "it's 100% \"$(two)\" \\ words"}, {"LD_PRELOAD", "/opt/libtidemark.so"}};
const std::vector<Mount> kMounts{
    {.name = "library", .source = "/my, \"lib\"/libtidemark.so", .target = "/opt/libtidemark.so"},
    {.name = "segments", .source = "/run/x", .target = "/run/x", .is_directory = true, .is_writable = true}};

TEST(EnvText, ForAShellIsSingleQuotedWhereNeeded) {
  EXPECT_EQ(shell_text(kSettings),
            "export TIDEMARK_LABEL='it'\\''s 100% \"$(two)\" \\ words'\n"
            "export LD_PRELOAD=/opt/libtidemark.so\n");
  EXPECT_EQ(viewer::shell_word(""), "''");
  EXPECT_EQ(viewer::shell_word("~x"), "'~x'");
}

TEST(EnvText, ForDockerIsOneLineOfShellWords) {
  EXPECT_EQ(docker_text(kSettings, kMounts),
            "--mount 'type=bind,\"source=/my, \"\"lib\"\"/libtidemark.so\",target=/opt/libtidemark.so,readonly' "
            "--mount type=bind,source=/run/x,target=/run/x "
            "--env 'TIDEMARK_LABEL=it'\\''s 100% \"$(two)\" \\ words' --env LD_PRELOAD=/opt/libtidemark.so\n");
}

TEST(EnvText, ForSystemdKeepsSpecifiersAndEscapes) {
  EXPECT_EQ(systemd_text(kSettings),
            "[Service]\n"
            "Environment=\"TIDEMARK_LABEL=it's 100%% \\\"$(two)\\\" \\\\ words\"\n"
            "Environment=\"LD_PRELOAD=/opt/libtidemark.so\"\n");
}

TEST(EnvText, ForKubernetesIsYamlWithoutExpansion) {
  EXPECT_EQ(k8s_text(kSettings, kMounts),
            "# into the container:\n"
            "env:\n"
            "  - name: TIDEMARK_LABEL\n"
            "    value: \"it's 100% \\\"$$(two)\\\" \\\\ words\"\n"
            "  - name: LD_PRELOAD\n"
            "    value: \"/opt/libtidemark.so\"\n"
            "volumeMounts:\n"
            "  - name: tidemark-library\n"
            "    mountPath: \"/opt/libtidemark.so\"\n"
            "    readOnly: true\n"
            "  - name: tidemark-segments\n"
            "    mountPath: \"/run/x\"\n"
            "# into the pod, whose nodes have these files:\n"
            "volumes:\n"
            "  - name: tidemark-library\n"
            "    hostPath:\n"
            "      path: \"/my, \\\"lib\\\"/libtidemark.so\"\n"
            "      type: File\n"
            "  - name: tidemark-segments\n"
            "    hostPath:\n"
            "      path: \"/run/x\"\n"
            "      type: Directory\n");
}

// What the shell line before `env` does is all that differs.
Outcome environment_by(const LaunchTree& tree, const std::string& line) {
  return run({.command = {"sh", "-c", line, "sh", "--mode", "count", "--label", "it's \"two\" $words", "--dir",
                          tree.base().string(), "--simulate", "mtia", "--unpool"},
              .environment = {{"T", tree.tidemark()},
                              {"XDG_RUNTIME_DIR", tree.base().string()},
                              {"LD_PRELOAD", "libm.so.6"},
                              {"LD_LIBRARY_PATH", "/a b:"},
                              {"ASAN_OPTIONS", "verify_asan_link_order=0"}}});
}

TEST(Env, GivesAShellWhatRunGivesAProgram) {
  for (const char* name : {"tree", "has space:and $colon 'quoted'"}) {
    const LaunchTree tree(name);

    const Outcome evaluated = environment_by(tree, "eval \"$(\"$T\" env \"$@\")\"; env -u _ | sort");
    const Outcome launched = environment_by(tree, "\"$T\" run \"$@\" -- env -u _ | sort");

    EXPECT_EQ(evaluated.err, "");
    EXPECT_EQ(evaluated.out, launched.out);
    EXPECT_THAT(evaluated.out, HasSubstr("TIDEMARK_LABEL=it's \"two\" $words\n"));
    EXPECT_THAT(evaluated.out, HasSubstr("libtidemark.so:libm.so.6\n"));
  }
}

TEST(Env, ForAContainerLendsItTheLibrary) {
  const LaunchTree tree("has space");

  const Outcome outcome = environment_by(tree, "eval printf '%s\\\\n' \"$(\"$T\" env --docker \"$@\")\"");

  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out,
              HasSubstr("type=bind,source=" + tree.library() + ",target=/opt/tidemark/libtidemark.so,readonly\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("type=bind,source=" + tree.base().string() + ",target=" + tree.base().string() + "\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\nTIDEMARK_LABEL=it's \"two\" $words\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\nLD_PRELOAD=/opt/tidemark/libtidemark.so\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\nLD_LIBRARY_PATH=/opt/tidemark/simulator\n"));
}

TEST(Env, IsRefusedInItsOwnName) {
  const LaunchTree tree("has space");

  EXPECT_EQ(environment_by(tree, "\"$T\" env --mode never").err,
            "tidemark: env: --mode 'never'; allowed: cache count off\n");
  EXPECT_EQ(environment_by(tree, "\"$T\" env --docker --k8s").exit_code, 2);
  const Outcome service = environment_by(tree, "\"$T\" env --systemd");
  EXPECT_EQ(service.exit_code, 1) << describe(service);
  EXPECT_THAT(service.err, HasSubstr("the loader cannot read the path"));
}

}  // namespace
}  // namespace tidemark::test
