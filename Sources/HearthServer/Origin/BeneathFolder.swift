#if Server
import CMicrohttpd

/// Opens a file so that neither `..` nor a symbolic link leaves the folder; -1 with `errno`.
func openBeneathFolder(_ folder: Int32, _ path: String) -> Int32 { hearth_open_beneath(folder, path) }
#else
import Foundation

/// Fails as on a system without the call, so that the caller checks the path of the open file.
func openBeneathFolder(_ folder: Int32, _ path: String) -> Int32 {
    errno = ENOSYS
    return -1
}
#endif
