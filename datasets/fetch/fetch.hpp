// Fetches data sets of the catalog from their origin: licence first, then a resumable download, its
// checksum, and only then the files that the catalog lists, each checked before it gets its name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "datasets/fetch/catalog.hpp"
#include "datasets/fetch/download.hpp"

namespace mf {

struct FetchOptions {
  std::string base_url;  // instead of the folder of the catalog's URL (a mirror)
  bool again = false;    // also where all files are there already
  bool keep_archive = false;
  DownloadOptions download;  // download.say also hears the licence and what is being done
};

struct FetchReport {
  std::string folder;              // where the files are
  std::vector<std::string> files;  // their names
  std::string archive_sha256;      // of the download
  bool already_there = false;      // nothing was done
  bool checksum_known = false;     // the catalog has a checksum of the download
  bool fetched_twice = false;      // the first download failed its checksum: the file had changed
  DownloadReport download;
};

// Fetches into <folder>/<name>/ and writes fetched.json beside the files: URL, time, checksums,
// licence, citation. A download that was cut continues at the next call. Throws
//   Error(usage)  unknown name (with the nearest one)
//   Error(data)   no public download (with what to do); wrong checksum (both are named); an archive
//                 that is damaged, hostile or lacks a file
//   Error(io)     network or file system
FetchReport fetch_dataset(const std::string& name, const std::string& folder,
                          const FetchOptions& options);

// The same for an entry that need not be in the catalog.
FetchReport fetch_entry(const CatalogEntry& entry, const std::string& folder,
                        const FetchOptions& options);

}  // namespace mf
