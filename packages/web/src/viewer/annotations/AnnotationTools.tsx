import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconBrush,
  IconCheck,
  IconCircle,
  IconDots,
  IconLine,
  IconList,
  IconPoint,
  IconPointer,
  IconPolygon,
  IconRectangle,
  IconRoute,
  IconScissors,
  IconTrash,
  IconWand,
} from '@tabler/icons-react';
import viewerClasses from '../SlideViewer.module.css';
import { ToolButton } from '../ToolButton.tsx';
import { texts as viewerTexts } from '../texts.ts';
import classes from './Annotations.module.css';
import { type Tool, tools } from './drafts.ts';
import { EditMenu } from './EditMenu.tsx';
import { texts } from './texts.ts';
import type { AnnotationActions } from './use-annotation-actions.ts';
import { type SlideAnnotations, useSessionValue, useStoreValue } from './use-annotations.ts';

/** Shortcuts of the tools: those of QuPath (a desktop slide viewer), and X for cutting, for which QuPath has no shortcut. */
export const toolKeys: Readonly<Record<Tool, string>> = {
  move: 'M',
  rectangle: 'R',
  ellipse: 'O',
  line: 'L',
  polygon: 'P',
  polyline: 'V',
  points: '.',
  brush: 'B',
  wand: 'W',
  cut: 'X',
};

const toolIcons = {
  move: IconPointer,
  rectangle: IconRectangle,
  ellipse: IconCircle,
  line: IconLine,
  polygon: IconPolygon,
  polyline: IconRoute,
  points: IconPoint,
  brush: IconBrush,
  wand: IconWand,
  cut: IconScissors,
} as const;

/** Removes the focus from a button that was pressed with the pointer, because Enter would press it again instead of drawing. */
function blurAfterPress(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

interface AnnotationToolsProps {
  readonly slideAnnotations: SlideAnnotations;
  readonly actions: AnnotationActions;
  /** Whether the user may draw; if not, only the menu (with Copy), the list and Done are shown. */
  readonly mayDraw: boolean;
  readonly isListOpen: boolean;
  readonly onToggleList: () => void;
  /** Whether a phone also shows the buttons with `shownOn="wide"`, which it hides at first. */
  readonly areAllShown: boolean;
  readonly onToggleAll: () => void;
  readonly onDone: () => void;
}

/** The toolbar of the drawing mode, which replaces the measuring tools. */
export function AnnotationTools(props: AnnotationToolsProps) {
  const { slideAnnotations, actions, mayDraw } = props;
  const { store, session } = slideAnnotations; // `session`: the tool, the draft (unfinished shape) and the brush
  const chosenTool = useSessionValue(session, ({ tool }) => tool);
  const canUndo = useStoreValue(store, (state) => state.canUndo);
  const canRedo = useStoreValue(store, (state) => state.canRedo);
  const isNoneSelected = useStoreValue(store, ({ selection }) => selection.size === 0);
  return (
    <div className={viewerClasses.tools}>
      <div
        className={`${viewerClasses.toolButtons} ${classes.columns}`}
        role="toolbar"
        aria-label={texts.tools}
        aria-orientation="vertical"
        onPointerUp={blurAfterPress}
      >
        {mayDraw &&
          tools.map((tool) => (
            <ToolButton
              key={tool}
              label={texts.tool[tool]}
              shortcut={toolKeys[tool]}
              Icon={toolIcons[tool]}
              tooltip="left"
              shownOn={chosenTool === tool ? undefined : 'wide'} // a phone always shows the chosen tool
              isPressed={chosenTool === tool}
              onClick={() => session.chooseTool(tool)}
            />
          ))}
        {mayDraw && (
          <>
            <ToolButton
              label={texts.undo}
              shortcut="Ctrl + Z"
              Icon={IconArrowBackUp}
              tooltip="left"
              isDisabled={!canUndo}
              onClick={actions.undo}
            />
            <ToolButton
              label={texts.redo}
              shortcut="Ctrl + Shift + Z"
              Icon={IconArrowForwardUp}
              tooltip="left"
              shownOn="wide"
              isDisabled={!canRedo}
              onClick={actions.redo}
            />
            <ToolButton
              label={texts.remove}
              Icon={IconTrash}
              tooltip="left"
              shownOn="wide"
              isDisabled={isNoneSelected}
              onClick={actions.remove}
            />
          </>
        )}
        <EditMenu slideAnnotations={slideAnnotations} actions={actions} mayDraw={mayDraw} />
        <ToolButton
          label={texts.list}
          Icon={IconList}
          tooltip="left"
          shownOn="wide"
          isExpanded={props.isListOpen}
          onClick={props.onToggleList}
        />
        <ToolButton label={texts.done} shortcut="D" Icon={IconCheck} tooltip="left" onClick={props.onDone} />
        <ToolButton
          label={props.areAllShown ? viewerTexts.fewerTools : viewerTexts.allTools}
          Icon={IconDots}
          tooltip="left"
          shownOn="narrow"
          isExpanded={props.areAllShown}
          onClick={props.onToggleAll}
        />
      </div>
    </div>
  );
}
