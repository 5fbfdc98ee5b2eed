#if Llama
/// Chat templates in the styles of well-known models, as short as possible.
enum ToolTemplates {
    /// Hermes and Qwen: calls in tags.
    static let hermes = #"""
        {%- if tools %}
            {{- '<|im_start|>system\n' }}
            {%- if messages[0].role == 'system' %}
                {{- messages[0].content + '\n\n' }}
            {%- endif %}
            {{- "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>" }}
            {%- for tool in tools %}
                {{- "\n" }}
                {{- tool | tojson }}
            {%- endfor %}
            {{- "\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call><|im_end|>\n" }}
        {%- else %}
            {%- if messages[0].role == 'system' %}
                {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
            {%- endif %}
        {%- endif %}
        {%- for message in messages %}
            {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
                {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
            {%- elif message.role == 'assistant' %}
                {{- '<|im_start|>assistant\n' + (message.content or '') }}
                {%- for tool_call in message.tool_calls or [] %}
                    {{- '\n<tool_call>\n{"name": "' + tool_call.function.name + '", "arguments": ' }}
                    {{- tool_call.function.arguments | tojson }}
                    {{- '}\n</tool_call>' }}
                {%- endfor %}
                {{- '<|im_end|>\n' }}
            {%- elif message.role == 'tool' %}
                {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}
                    {{- '<|im_start|>user' }}
                {%- endif %}
                {{- '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
                {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}
                    {{- '<|im_end|>\n' }}
                {%- endif %}
            {%- endif %}
        {%- endfor %}
        {%- if add_generation_prompt %}
            {{- '<|im_start|>assistant\n' }}
        {%- endif %}
        """#

    /// Llama 3: a call is only its JSON, one at a time.
    static let bare = #"""
        {{- bos_token }}
        {%- if messages[0]['role'] == 'system' %}
            {%- set system_message = messages[0]['content'] | trim %}
            {%- set messages = messages[1:] %}
        {%- else %}
            {%- set system_message = "" %}
        {%- endif %}
        {{- "<|start_header_id|>system<|end_header_id|>\n\n" + system_message + "<|eot_id|>" }}
        {%- if tools is not none and tools is defined and tools %}
            {%- set first_user_message = messages[0]['content'] | trim %}
            {%- set messages = messages[1:] %}
            {{- '<|start_header_id|>user<|end_header_id|>\n\n' }}
            {{- "Given the following functions, please respond with a JSON for a function call with its proper arguments that best answers the given prompt.\n\n" }}
            {{- 'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}. Do not use variables.\n\n' }}
            {%- for t in tools %}
                {{- t | tojson(indent=4) }}
                {{- "\n\n" }}
            {%- endfor %}
            {{- first_user_message + "<|eot_id|>" }}
        {%- endif %}
        {%- for message in messages %}
            {%- if not (message.role == 'tool' or message.role == 'ipython' or 'tool_calls' in message) %}
                {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}
            {%- elif 'tool_calls' in message %}
                {%- if message.tool_calls | length != 1 %}
                    {{- raise_exception("This model only supports single tool-calls at once!") }}
                {%- endif %}
                {%- set tool_call = message.tool_calls[0].function %}
                {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
                {{- '{"name": "' + tool_call.name + '", "parameters": ' + (tool_call.arguments | tojson) + '}' }}
                {{- "<|eot_id|>" }}
            {%- elif message.role == "tool" or message.role == "ipython" %}
                {{- "<|start_header_id|>ipython<|end_header_id|>\n\n" }}
                {{- message.content }}
                {{- "<|eot_id|>" }}
            {%- endif %}
        {%- endfor %}
        {%- if add_generation_prompt %}
            {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
        {%- endif %}
        """#

    /// Mistral: calls are a list after a control token, and ids have nine characters.
    static let mistral = #"""
        {%- if messages[0]["role"] == "system" %}
            {%- set system_message = messages[0]["content"] %}
            {%- set loop_messages = messages[1:] %}
        {%- else %}
            {%- set loop_messages = messages %}
        {%- endif %}
        {{- bos_token }}
        {%- for message in loop_messages %}
            {%- if message["role"] == "user" %}
                {%- if tools is defined and tools is not none and tools and message == (loop_messages | selectattr("role", "equalto", "user") | list)[-1] %}
                    {{- "[AVAILABLE_TOOLS] " + (tools | tojson) + "[/AVAILABLE_TOOLS]" }}
                {%- endif %}
                {%- if loop.first and system_message is defined %}
                    {{- "[INST] " + system_message + "\n\n" + message["content"] + "[/INST]" }}
                {%- else %}
                    {{- "[INST] " + message["content"] + "[/INST]" }}
                {%- endif %}
            {%- elif message["role"] == "assistant" and message.tool_calls %}
                {{- "[TOOL_CALLS] [" }}
                {%- for tool_call in message.tool_calls %}
                    {{- '{"name": "' + tool_call.function.name + '", "arguments": ' + (tool_call.function.arguments | tojson) + ', "id": "' + tool_call.id + '"}' }}
                    {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}
                {%- endfor %}
            {%- elif message["role"] == "assistant" %}
                {{- " " + message["content"] | trim + eos_token }}
            {%- elif message["role"] == "tool" %}
                {{- '[TOOL_RESULTS] {"content": ' + (message.content | string) + ', "call_id": "' + message.tool_call_id + '"}[/TOOL_RESULTS]' }}
            {%- endif %}
        {%- endfor %}
        """#
}
#endif
