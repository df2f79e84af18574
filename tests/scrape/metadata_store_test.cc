#include "scrape/metadata_store.h"

#include <gtest/gtest.h>

namespace narthex::scrape {
namespace {

using model::MetricType;

void Say(MetadataStore* store, std::string_view family, MetricType type, std::string_view help) {
  store->SetHelp(family, help);
  store->SetType(family, type);
}

TEST(MetadataStoreTest, PartsComeTogetherByFamily) {
  MetadataPool pool;
  MetadataStore store(&pool);
  store.BeginScrape();
  Say(&store, "b", MetricType::kCounter, "Bees.");
  Say(&store, "a", MetricType::kGauge, "Ants.");
  store.SetUnit("a", "legs");
  store.EndScrape();
  const std::vector<MetricMetadata> all = store.List("");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].family, "a");
  EXPECT_EQ(all[0].metadata, (model::Metadata{MetricType::kGauge, "legs", "Ants."}));
  EXPECT_EQ(all[1].metadata, (model::Metadata{MetricType::kCounter, "", "Bees."}));
  EXPECT_EQ(store.List("b").size(), 1u);
  EXPECT_TRUE(store.List("c").empty());
  EXPECT_EQ(store.size(), 2u);
  EXPECT_EQ(store.num_text_bytes(), std::string_view("gaugelegsAnts.counterBees.").size());
}

TEST(MetadataStoreTest, PartsThatAreMissingLaterStay) {
  MetadataPool pool;
  MetadataStore store(&pool);
  store.BeginScrape();
  Say(&store, "a", MetricType::kGauge, "Ants.");
  store.EndScrape();
  store.BeginScrape();
  store.SetType("a", MetricType::kCounter);
  store.EndScrape();
  EXPECT_EQ(store.List("a")[0].metadata, (model::Metadata{MetricType::kCounter, "", "Ants."}));
}

TEST(MetadataStoreTest, FamiliesGoTenScrapesAfterTheirLastMention) {
  MetadataPool pool;
  MetadataStore store(&pool);
  store.BeginScrape();
  Say(&store, "gone", MetricType::kGauge, "x");
  Say(&store, "stays", MetricType::kGauge, "x");
  store.EndScrape();
  for (int i = 0; i < 10; ++i) {
    store.BeginScrape();
    Say(&store, "stays", MetricType::kGauge, "x");
    store.EndScrape();
    ASSERT_EQ(store.size(), 2u) << i;
  }
  store.BeginScrape();
  Say(&store, "stays", MetricType::kGauge, "x");
  store.EndScrape();
  EXPECT_EQ(store.size(), 1u);
  EXPECT_EQ(store.List("stays").size(), 1u);
}

TEST(MetadataStoreTest, TheNewestFamilyTellsWhetherItChanged) {
  MetadataPool pool;
  MetadataStore store(&pool);
  bool changed = false;
  store.BeginScrape();
  EXPECT_EQ(store.Newest(&changed), nullptr);
  Say(&store, "a", MetricType::kGauge, "x");
  EXPECT_EQ(store.Newest(&changed)->family, "a");
  EXPECT_TRUE(changed);
  store.EndScrape();
  store.BeginScrape();
  Say(&store, "a", MetricType::kGauge, "x");
  EXPECT_NE(store.Newest(&changed), nullptr);
  EXPECT_FALSE(changed);
  store.SetHelp("a", "y");
  store.Newest(&changed);
  EXPECT_TRUE(changed);
}

TEST(MetadataStoreTest, StoresOfOneKindShareTheirRecords) {
  MetadataPool pool;
  MetadataStore a(&pool), b(&pool);
  bool changed;
  for (MetadataStore* store : {&a, &b}) {
    store->BeginScrape();
    Say(store, "x", MetricType::kGauge, "Same.");
  }
  EXPECT_EQ(a.Newest(&changed), b.Newest(&changed));
  b.SetHelp("x", "Other.");
  EXPECT_NE(a.Newest(&changed), b.Newest(&changed));
  EXPECT_EQ(a.Newest(&changed)->metadata.help, "Same.");
}

TEST(MetadataStoreTest, ManyFamiliesInAnyOrderAreFound) {
  MetadataPool pool;
  MetadataStore store(&pool);
  for (int scrape = 0; scrape < 3; ++scrape) {
    store.BeginScrape();
    for (int i = 0; i < 2000; ++i) {
      const std::string family = "m" + std::to_string(i * 7919 % 2000 * (scrape + 1) % 2000);
      Say(&store, family, MetricType::kGauge, family);
    }
    store.EndScrape();
  }
  EXPECT_EQ(store.size(), 2000u);
  for (const MetricMetadata& metadata : store.List("")) {
    EXPECT_EQ(metadata.metadata.help, metadata.family);
  }
}

}  // namespace
}  // namespace narthex::scrape
