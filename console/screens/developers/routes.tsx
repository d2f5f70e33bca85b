/** The screens of this room by their addresses below `/console`. */
import type { Screens } from '../../screens.ts'

export const developersScreens: Screens = []
