# The installed libraries, chordal and chordal_uv, and the tool.

function(chordal_library name)
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${CHORDAL_ABI})
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  if(NOT CHORDAL_SANITIZE) # clang leaves the sanitizers' run time to the program
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

set(map ${PROJECT_SOURCE_DIR}/core/chordal.map)
add_library(chordal SHARED)
target_link_libraries(chordal PRIVATE chordal_objects)
target_include_directories(chordal PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core/include>
                                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
chordal_library(chordal)
target_link_options(chordal PRIVATE -Wl,--version-script=${map})
set_target_properties(chordal PROPERTIES LINK_DEPENDS ${map})
set(installed chordal)

if(CHORDAL_UV)
  file(GLOB sources CONFIGURE_DEPENDS core/uv/*.c)
  add_library(chordal_uv_objects OBJECT ${sources})
  target_include_directories(chordal_uv_objects PUBLIC core/include PRIVATE core)
  target_compile_definitions(chordal_uv_objects PRIVATE CHORDAL_BUILD_SHARED)
  target_link_libraries(chordal_uv_objects PUBLIC chordal_loop)

  add_library(chordal_uv SHARED)
  target_link_libraries(chordal_uv PUBLIC chordal PkgConfig::uv PRIVATE chordal_uv_objects) # chordal/uv.h has uv_loop_t
  chordal_library(chordal_uv)
  list(APPEND installed chordal_uv)

  add_library(chordal_uv_static STATIC)
  set_target_properties(chordal_uv_static PROPERTIES OUTPUT_NAME chordal_uv)
  target_link_libraries(chordal_uv_static PUBLIC chordal_static chordal_loop PRIVATE chordal_uv_objects)

  file(GLOB sources CONFIGURE_DEPENDS core/tool/*.c)
  add_executable(chordal_tool ${sources})
  set_target_properties(chordal_tool PROPERTIES OUTPUT_NAME chordal)
  target_include_directories(chordal_tool PRIVATE core)
  target_link_libraries(chordal_tool PRIVATE chordal_uv_static m)
  install(TARGETS chordal_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(TARGETS ${installed} EXPORT chordal LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES $<TARGET_FILE:chordal_static> DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY core/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT chordal NAMESPACE chordal:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/chordal FILE chordalTargets.cmake)

configure_package_config_file(cmake/chordalConfig.cmake.in chordalConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/chordal)
write_basic_package_version_file(chordalConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/chordalConfig.cmake ${PROJECT_BINARY_DIR}/chordalConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/chordal)
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name IN LISTS installed)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
