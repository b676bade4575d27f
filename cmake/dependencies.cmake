# What the core and its edges link: chordal_zlib, chordal_sqlite, chordal_loop (docs/dependencies.md).

if(CHORDAL_SOURCES)
  # Private copies, for packages: static, hidden, so that no other copy in the process is taken for ours.
  file(GLOB zlib_sources ${CHORDAL_SOURCES}/zlib/*.c)
  add_library(chordal_zlib STATIC ${zlib_sources})
  target_include_directories(chordal_zlib SYSTEM PUBLIC ${CHORDAL_SOURCES}/zlib)

  add_library(chordal_sqlite STATIC ${CHORDAL_SOURCES}/sqlite/sqlite3.c)
  target_include_directories(chordal_sqlite SYSTEM PUBLIC ${CHORDAL_SOURCES}/sqlite)
  target_compile_definitions(
    chordal_sqlite
    PRIVATE SQLITE_THREADSAFE=2 SQLITE_DQS=0 SQLITE_DEFAULT_MEMSTATUS=0 SQLITE_OMIT_DEPRECATED
            SQLITE_OMIT_LOAD_EXTENSION SQLITE_OMIT_SHARED_CACHE SQLITE_LIKE_DOESNT_MATCH_BLOBS
            SQLITE_MAX_EXPR_DEPTH=0 SQLITE_USE_ALLOCA HAVE_USLEEP=1)
  find_package(Threads REQUIRED)
  target_link_libraries(chordal_sqlite PUBLIC Threads::Threads m)

  foreach(target chordal_zlib chordal_sqlite)
    target_compile_options(${target} PRIVATE -w)
  endforeach()
else()
  find_package(ZLIB REQUIRED)
  find_package(SQLite3 REQUIRED)
  add_library(chordal_zlib INTERFACE)
  target_link_libraries(chordal_zlib INTERFACE ZLIB::ZLIB)
  add_library(chordal_sqlite INTERFACE)
  target_link_libraries(chordal_sqlite INTERFACE SQLite::SQLite3)
endif()

# What chordal_versions() tells: the versions of the headers compiled against.
function(header_version output name pattern)
  find_file(header ${name} PATHS ${CHORDAL_SOURCES}/zlib ${CHORDAL_SOURCES}/sqlite ${SQLite3_INCLUDE_DIRS}
                                 ${ZLIB_INCLUDE_DIRS} NO_CACHE NO_DEFAULT_PATH REQUIRED)
  file(STRINGS ${header} line REGEX "define ${pattern} +\"")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" line "${line}")
  set(${output} "${line}" PARENT_SCOPE)
endfunction()
header_version(zlib_version zlib.h ZLIB_VERSION)
header_version(sqlite_version sqlite3.h SQLITE_VERSION)

if(CHORDAL_UV)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(uv REQUIRED IMPORTED_TARGET libuv>=1.44)
  pkg_check_modules(lws REQUIRED IMPORTED_TARGET libwebsockets>=4.1)
  add_library(chordal_loop INTERFACE)
  target_link_libraries(chordal_loop INTERFACE PkgConfig::uv PkgConfig::lws)
endif()
